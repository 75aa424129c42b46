import { defineConfig } from "vitest/config"

const conditions = ["@holdfast/source", "node", "import", "module", "default"]
const resolve = { conditions }
const ssr = { resolve: { conditions, externalConditions: conditions } }
const common = {
  exclude: ["**/node_modules/**", "**/dist/**"],
  pool: "forks",
  testTimeout: 60_000,
  hookTimeout: 60_000
} as const

export default defineConfig({
  test: {
    // Many tests wait for processes of their own: two files at a time keep two cores busy.
    maxWorkers: 2,
    projects: [
      {
        resolve,
        ssr,
        test: {
          ...common,
          name: "cores",
          include: ["packages/core/**/src/**/*.test.ts"],
          // Pure code leaves nothing behind, so its files can share a process.
          isolate: false
        }
      },
      {
        resolve,
        ssr,
        test: {
          ...common,
          name: "shells",
          include: ["{packages,apps,tools}/**/src/**/*.test.ts", "{test,examples}/**/*.test.ts"],
          exclude: [...common.exclude, "packages/core/**"]
        }
      }
    ]
  }
})
