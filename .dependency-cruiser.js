/**
 * Arrows go one way: apps -> services, adapters, client -> ports -> core.
 * What a layer may not reach stands here by name, so that a breach names its rule.
 */
const layer = (name) => `^packages/${name}/`
const tests = "(\\.(test|bench)\\.ts$|/src/testing/)"

export default {
  forbidden: [
    {
      // A type may name the module that uses it; code may not go in circles.
      name: "no-circular",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } }
    },
    {
      name: "not-to-unresolvable",
      severity: "error",
      from: { pathNot: tests },
      to: { couldNotResolve: true }
    },
    {
      name: "core-imports-no-node-module",
      severity: "error",
      from: { path: layer("core"), pathNot: tests },
      to: { dependencyTypes: ["core"] }
    },
    {
      name: "core-reaches-only-core",
      severity: "error",
      from: { path: layer("core"), pathNot: tests },
      to: { path: "^(packages/(ports|adapters|services|client)|apps|tools)/" }
    },
    {
      name: "core-imports-effect-alone",
      severity: "error",
      from: { path: layer("core"), pathNot: tests },
      to: { path: "node_modules/", pathNot: "node_modules/effect/" }
    },
    {
      name: "port-reaches-only-ports-and-core",
      severity: "error",
      from: { path: layer("ports"), pathNot: tests },
      to: { path: "^(packages/(adapters|services|client)|apps|tools)/" }
    },
    {
      name: "suites-are-for-tests",
      severity: "error",
      from: { path: "^(packages|apps)/", pathNot: [tests, "/testing/", "^packages/ports/suites/"] },
      to: { path: "^packages/ports/suites/" }
    },
    {
      name: "adapter-reaches-no-service-client-or-app",
      severity: "error",
      from: { path: layer("adapters"), pathNot: tests },
      to: { path: "^(packages/(services|client)|apps|tools)/" }
    },
    {
      name: "adapters-do-not-reach-each-other",
      severity: "error",
      from: { path: "^packages/adapters/([^/]+)/", pathNot: tests },
      to: { path: "^packages/adapters/([^/]+)/", pathNot: "^packages/adapters/$1/" }
    },
    {
      name: "service-reaches-no-adapter-or-app",
      severity: "error",
      from: { path: "^packages/(services|client)/", pathNot: tests },
      to: { path: "^(packages/adapters|apps|tools)/" }
    },
    {
      name: "no-package-reaches-an-app",
      severity: "error",
      from: { path: "^packages/" },
      to: { path: "^apps/" }
    },
    {
      name: "only-holdfast-joins-the-apps",
      severity: "error",
      from: { path: "^apps/([^/]+)/", pathNot: "^apps/holdfast/" },
      to: { path: "^apps/", pathNot: "^apps/$1/" }
    }
  ],
  options: {
    parser: "swc",
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(packages|apps|tools)/.+/dist/" },
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["@holdfast/source", "import", "node", "default"]
    }
  }
}
