import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { writeTo } from "./destination.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-destination-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const parts = Stream.make(Buffer.from("one "), Buffer.from("two"))

describe("a destination", () => {
  it.effect("has all parts, one behind the other", () =>
    Effect.gen(function* () {
      const path = join(folder, "a")
      assert.strictEqual(yield* writeTo(path, parts), 7)
      assert.strictEqual(readFileSync(path, "utf8"), "one two")
    })
  )

  it.effect("a failure leaves what was there before, and nothing else", () =>
    Effect.gen(function* () {
      const path = join(folder, "a")
      writeFileSync(path, "before")
      const failed = writeTo(path, Stream.concat(parts, Stream.fail("torn" as const)))
      assert.strictEqual(yield* Effect.flip(failed), "torn")
      assert.strictEqual(readFileSync(path, "utf8"), "before")
      assert.deepStrictEqual(readdirSync(folder), ["a"])
    })
  )

  it.effect("a link stays a link, its file is replaced", () =>
    Effect.gen(function* () {
      const [link, target] = [join(folder, "link"), join(folder, "target")]
      writeFileSync(target, "before")
      symlinkSync(target, link)
      yield* writeTo(link, parts)
      assert.strictEqual(readFileSync(target, "utf8"), "one two")
      assert.deepStrictEqual(readdirSync(folder).sort(), ["link", "target"])
    })
  )

  it.effect("what is no regular file is written to as it is", () =>
    Effect.gen(function* () {
      yield* writeTo("/dev/null", parts)
      assert.isTrue(existsSync("/dev/null"))
      assert.strictEqual(readFileSync("/dev/null").length, 0)
    })
  )

  it.effect("a directory, or a folder that is not there, is refused", () =>
    Effect.gen(function* () {
      assert.include((yield* Effect.flip(writeTo(folder, parts))).message, "is a directory")
      const nowhere = join(folder, "nowhere", "a")
      assert.include((yield* Effect.flip(writeTo(nowhere, parts))).message, "ENOENT")
    })
  )
})
