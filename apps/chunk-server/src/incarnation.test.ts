import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { raiseIncarnation } from "./incarnation.ts"

const inFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-incarnation-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

describe("an incarnation", () => {
  it.effect("rises with each start and leaves no other file", () =>
    Effect.gen(function* () {
      const folder = join(yield* inFolder, "host")
      assert.strictEqual(yield* raiseIncarnation(folder), 1)
      assert.strictEqual(yield* raiseIncarnation(folder), 2)
      assert.deepStrictEqual(readdirSync(folder), ["incarnation"])
    })
  )

  it.effect("is not guessed where its file is damaged", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      writeFileSync(join(folder, "incarnation"), "")
      const { message } = yield* Effect.flip(raiseIncarnation(folder))
      assert.include(message, "put a number there")
    })
  )
})
