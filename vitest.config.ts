import { defineConfig } from "vitest/config"

const conditions = ["@holdfast/source", "node", "import", "module", "default"]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["{packages,apps,tools}/**/src/**/*.test.ts", "{test,examples}/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 30_000
  }
})
