import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { findsTheMistake } from "./testing/readme-example.ts"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")

describe("README", () => {
  it("shows an example that runs", { timeout: 120_000 }, () => {
    const readme = read("../README.md")
    const block = /```ts\n([\s\S]*?)```/.exec(readme)?.[1]
    assert.strictEqual(block?.trim(), read("./testing/readme-example.ts").trim())
    assert.strictEqual(findsTheMistake(), "wrong-bytes")
  })
})
