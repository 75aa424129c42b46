import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope, Stream } from "effect"
import {
  chunkNamed,
  codeOf,
  format,
  load,
  open,
  patterned,
  store
} from "./testing/device-fixture.ts"

const mebibyte = 1024 * 1024

const mount = (directory: string): boolean => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,nr_inodes=24", "tmpfs", directory], {
      stdio: "ignore"
    })
    return true
  } catch {
    return false
  }
}

const mayMount = (() => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-mount-"))
  const isMounted = mount(directory)
  if (isMounted) execFileSync("umount", [directory])
  rmSync(directory, { recursive: true })
  return isMounted
})()

/** A mounted file system of 4 MiB and few inodes, with a formatted device. */
const smallDisk: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-small-"))
    mount(directory)
    return directory
  }),
  (directory) =>
    Effect.sync(() => {
      execFileSync("umount", ["-l", directory])
      rmSync(directory, { recursive: true })
    })
)

describe.runIf(mayMount)("a real file system that is full", () => {
  it.effect(
    "metadata-T9: the floor holds, then the disk itself refuses; reads and removals work",
    () =>
      Effect.gen(function* () {
        const directory = join(yield* smallDisk, "d1")
        yield* format(directory)
        const device = yield* open(directory, { reservedBytes: mebibyte })
        yield* store(device, chunkNamed(1), patterned(2 * mebibyte))
        assert.strictEqual(yield* codeOf(store(device, chunkNamed(2), patterned(mebibyte))), "full")
        const room = (yield* device.usage).available
        assert.isBelow(room, mebibyte)
        yield* store(device, chunkNamed(3), patterned(room))
        assert.deepStrictEqual(yield* load(device, chunkNamed(1)), patterned(2 * mebibyte))
        yield* device.remove(chunkNamed(1))
        yield* store(device, chunkNamed(2), patterned(mebibyte))
      })
  )

  it.effect("metadata-B51: bytes that the disk refuses midway are no copy", () =>
    Effect.gen(function* () {
      const directory = join(yield* smallDisk, "d1")
      yield* format(directory)
      const device = yield* open(directory)
      const greedy = Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* device.begin({ chunk: chunkNamed(1), expectedBytes: 3 * mebibyte })
          yield* store(device, chunkNamed(2), patterned(700_000))
          execFileSync("dd", ["if=/dev/zero", `of=${directory}/ballast`, "bs=1M", "count=2"], {
            stdio: "ignore"
          })
          yield* writer.write(patterned(3 * mebibyte))
          yield* writer.finish
        })
      )
      assert.strictEqual(yield* codeOf(greedy), "full")
      const copies = yield* Stream.runCollect(device.list)
      assert.deepStrictEqual(
        copies.map((copy) => copy._tag === "Intact" && copy.fileId),
        [2]
      )
      assert.deepStrictEqual(yield* load(device, chunkNamed(2)), patterned(700_000))
    })
  )

  it.effect("metadata-B62: without inodes a write fails cleanly and succeeds after a removal", () =>
    Effect.gen(function* () {
      const directory = join(yield* smallDisk, "d1")
      yield* format(directory)
      const device = yield* open(directory)
      let stored = 0
      for (;;) {
        const code = yield* codeOf(store(device, chunkNamed(stored + 1), patterned(10)))
        if (code === "full") break
        assert.strictEqual(code, "none")
        stored += 1
        assert.isBelow(stored, 24)
      }
      assert.strictEqual((yield* Stream.runCollect(device.list)).length, stored)
      yield* device.remove(chunkNamed(1))
      yield* store(device, chunkNamed(stored + 1), patterned(10))
    })
  )
})
