import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { openSource } from "./source.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-source-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const named = (name: string) => Option.some(name)

describe("a source", () => {
  it.effect("is called as the file is, unless it is named, and has its bytes", () =>
    Effect.gen(function* () {
      const path = join(folder, "a.bin")
      const bytes = Buffer.alloc(3_000_001, 7)
      writeFileSync(path, bytes)
      const source = yield* openSource({ path, name: Option.none() })
      assert.deepStrictEqual([source.name, source.bytes], ["a.bin", bytes.length])
      assert.isTrue(source.isRepeatable)
      const read = yield* Stream.mkUint8Array(source.data)
      assert.strictEqual(Buffer.compare(read, bytes), 0)
      assert.strictEqual((yield* openSource({ path, name: named("dir/a") })).name, "dir/a")
    })
  )

  it.effect("what is no regular file is not read twice", () =>
    Effect.gen(function* () {
      const source = yield* openSource({ path: "/dev/null", name: Option.none() })
      assert.deepStrictEqual([source.bytes, source.isRepeatable], [0, false])
      assert.isFalse((yield* openSource({ path: "-", name: named("a") })).isRepeatable)
    })
  )

  it.effect("what cannot be read is a sentence", () =>
    Effect.gen(function* () {
      const messageOf = (path: string) =>
        Effect.map(Effect.flip(openSource({ path, name: Option.none() })), ({ message }) => message)
      assert.include(yield* messageOf(join(folder, "nowhere")), "there is no file")
      assert.include(yield* messageOf(folder), "is a directory")
      assert.include(yield* messageOf("-"), "--name")
    })
  )

  it.effect("a file that goes away before it is read fails its bytes, not the process", () =>
    Effect.gen(function* () {
      const path = join(folder, "a")
      writeFileSync(path, "x")
      const { data } = yield* openSource({ path, name: Option.none() })
      rmSync(path)
      const failed = yield* Effect.flip(Stream.runDrain(data))
      assert.include(failed.message, "cannot be read: ENOENT")
    })
  )
})
