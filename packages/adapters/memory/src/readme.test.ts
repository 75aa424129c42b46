import { readFile } from "node:fs/promises"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterTheCrash } from "./testing/readme-example.ts"

const fileOf = (path: string) =>
  Effect.promise(() => readFile(new URL(path, import.meta.url), "utf8"))

describe("a README's example", () => {
  it.live("is the file that runs here, and finds what was answered", () =>
    Effect.gen(function* () {
      const example = /```ts\n([^]*?)```/.exec(yield* fileOf("../README.md"))?.[1]
      assert.strictEqual(example, yield* fileOf("./testing/readme-example.ts"))
      assert.deepStrictEqual(yield* afterTheCrash, { unheard: "timeout", found: ["first"] })
    })
  )

  it.live("of the suites is the test that runs here", () =>
    Effect.gen(function* () {
      const readme = yield* fileOf("../../../ports/suites/README.md")
      const example = /```ts\n([^]*?)```/.exec(readme)?.[1]
      assert.strictEqual(example, yield* fileOf("./suites-example.test.ts"))
    })
  )
})
