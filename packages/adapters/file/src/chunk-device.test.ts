import { readdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import * as fc from "fast-check"
import { blockBytes } from "./block-file-format.ts"
import {
  chunkNamed,
  codeOf,
  format,
  freshDevice,
  freshDirectory,
  load,
  open,
  patterned,
  store
} from "./testing/device-fixture.ts"

const lengths = [0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 5 * blockBytes + 17, 1 << 20]

describe("copies", () => {
  it.effect("a copy of any length comes back byte for byte, also after a restart", () =>
    Effect.gen(function* () {
      const directory = join(yield* freshDirectory, "d1")
      yield* format(directory)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const device = yield* open(directory)
          for (const [index, length] of lengths.entries()) {
            const stored = yield* store(device, chunkNamed(index + 1), patterned(length))
            assert.deepStrictEqual([stored.length, stored.version], [length, 1])
          }
        })
      )
      const device = yield* open(directory)
      for (const [index, length] of lengths.entries()) {
        const chunk = chunkNamed(index + 1)
        assert.deepStrictEqual(yield* load(device, chunk), patterned(length))
        assert.deepStrictEqual(yield* device.verify(chunk), yield* device.describe(chunk))
      }
      const usage = yield* device.usage
      const total = lengths.reduce((sum, length) => sum + length, 0)
      assert.deepStrictEqual([usage.used, usage.copies], [total, lengths.length])
    })
  )

  it.effect("a range is the slice of the whole, whatever its ends", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice()
      const bytes = patterned(6 * blockBytes + 100)
      yield* store(device, chunkNamed(1), bytes)
      const place = fc.nat({ max: bytes.length })
      const property = fc.asyncProperty(place, place, async (left, right) => {
        const range = { start: Math.min(left, right), end: Math.max(left, right) }
        const read = await Effect.runPromise(load(device, chunkNamed(1), range))
        assert.deepStrictEqual(read, bytes.slice(range.start, range.end))
      })
      yield* Effect.promise(() => fc.assert(property, { numRuns: 40 }))
      for (const [start, end] of [
        [0, bytes.length + 1],
        [5, 4],
        [-1, 4],
        [0.5, 4]
      ] as const) {
        assert.strictEqual(
          yield* codeOf(load(device, chunkNamed(1), { start, end })),
          "out-of-range"
        )
      }
    })
  )

  it.effect("the list is in (file, chunk, version) order across folders", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice()
      const names = [
        [70_000, 0, 1],
        [2 ** 40, 3, 9],
        [1, 255, 2],
        [1, 16, 300],
        [256, 0, 1],
        [1, 16, 4],
        [255, 4_294_967_295, 1],
        [Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER]
      ] as const
      for (const [fileId, chunkId, version] of names) {
        yield* store(device, { fileId, chunkId, version }, patterned(10))
      }
      const listed = yield* Stream.runCollect(device.list)
      const sorted = names.toSorted((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
      assert.deepStrictEqual(
        listed.map((copy) =>
          copy._tag === "Intact" ? [copy.fileId, copy.chunkId, copy.version] : copy.file
        ),
        sorted.map((name) => [...name])
      )
    })
  )

  it.effect("a version is stored once: the same bytes again are welcome, other bytes are not", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice()
      const first = yield* store(device, chunkNamed(1), patterned(1000))
      assert.deepStrictEqual(yield* store(device, chunkNamed(1), patterned(1000)), first)
      assert.strictEqual(yield* codeOf(store(device, chunkNamed(1), patterned(1000, 2))), "exists")
      assert.deepStrictEqual(yield* load(device, chunkNamed(1)), patterned(1000))
      assert.strictEqual((yield* device.usage).copies, 1)
    })
  )

  it.effect("an abandoned write leaves nothing and gives its room back", () =>
    Effect.gen(function* () {
      const { device, directory } = yield* freshDevice({ capacityBytes: 1000 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* device.begin({ chunk: chunkNamed(1), expectedBytes: 600 })
          yield* writer.write(patterned(500))
          assert.strictEqual((yield* device.usage).available, 400)
          assert.strictEqual(yield* codeOf(writer.write(patterned(101))), "out-of-range")
          assert.strictEqual(yield* codeOf(writer.finish), "closed")
        })
      )
      assert.strictEqual((yield* device.usage).available, 1000)
      assert.strictEqual(yield* codeOf(device.describe(chunkNamed(1))), "not-found")
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(directory, "incoming"))), [])
    })
  )

  it.effect("a removed copy is gone, a second removal finds nothing", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice()
      yield* store(device, chunkNamed(1), patterned(1000))
      yield* device.remove(chunkNamed(1))
      assert.strictEqual(yield* codeOf(load(device, chunkNamed(1))), "not-found")
      assert.strictEqual(yield* codeOf(device.remove(chunkNamed(1))), "not-found")
      const usage = yield* device.usage
      assert.deepStrictEqual([usage.used, usage.copies], [0, 0])
    })
  )
})

describe("devices", () => {
  it.effect("only an empty directory is formatted, and only once", () =>
    Effect.gen(function* () {
      const directory = yield* freshDirectory
      yield* Effect.promise(() => writeFile(join(directory, "letters"), "mine"))
      assert.strictEqual(yield* codeOf(format(directory)), "exists")
      const empty = join(directory, "d1")
      assert.strictEqual((yield* format(empty)).deviceId, "d1")
      assert.strictEqual(yield* codeOf(format(empty)), "exists")
      assert.strictEqual(yield* codeOf(format(join(directory, "no", "parent"))), "unavailable")
    })
  )

  it.effect(
    "metadata-B81: a directory without an identity is refused, and nothing is written",
    () =>
      Effect.gen(function* () {
        const directory = yield* freshDirectory
        assert.strictEqual(yield* codeOf(open(directory)), "not-formatted")
        assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), [])
      })
  )

  it.effect("metadata-B81: a disk that goes while it is open makes everything unavailable", () =>
    Effect.gen(function* () {
      const { device, directory } = yield* freshDevice()
      yield* store(device, chunkNamed(1), patterned(1000))
      yield* Effect.promise(() => rename(directory, `${directory}.gone`))
      const acts = [
        load(device, chunkNamed(1)),
        device.verify(chunkNamed(1)),
        device.remove(chunkNamed(1)),
        store(device, chunkNamed(2), patterned(10)),
        Stream.runCollect(device.list),
        device.usage
      ]
      for (const act of acts) assert.strictEqual(yield* codeOf<unknown, never>(act), "unavailable")
      yield* Effect.promise(() => rename(`${directory}.gone`, directory))
      assert.deepStrictEqual(yield* load(device, chunkNamed(1)), patterned(1000))
    })
  )

  it.effect("a device of another cluster is foreign, one with a changed identity is corrupt", () =>
    Effect.gen(function* () {
      const directory = join(yield* freshDirectory, "d1")
      yield* format(directory)
      assert.strictEqual(yield* codeOf(open(directory, { clusterId: "c2" })), "foreign")
      const identity = join(directory, "identity")
      const text = yield* Effect.promise(() => readFile(identity, "utf8"))
      yield* Effect.promise(() => writeFile(identity, text.replace('"c1"', '"c2"')))
      assert.strictEqual(yield* codeOf(open(directory, { clusterId: "c2" })), "corrupt")
    })
  )

  it.effect("metadata-B51: a write that would pass the floor is refused before any byte", () =>
    Effect.gen(function* () {
      const { device, directory } = yield* freshDevice({ capacityBytes: 1000, reservedBytes: 100 })
      assert.strictEqual((yield* device.usage).available, 900)
      assert.strictEqual(yield* codeOf(store(device, chunkNamed(1), patterned(901))), "full")
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(join(directory, "incoming"))), [])
      yield* store(device, chunkNamed(1), patterned(900))
      assert.strictEqual((yield* device.usage).available, 0)
      assert.strictEqual(yield* codeOf(store(device, chunkNamed(2), patterned(1))), "full")
      yield* store(device, chunkNamed(3), patterned(0))
      assert.deepStrictEqual(yield* load(device, chunkNamed(1)), patterned(900))
      yield* device.remove(chunkNamed(1))
      assert.strictEqual((yield* device.usage).available, 900)
    })
  )

  it.effect("metadata-B57: room returns to where it was whatever becomes of the writes", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice({ capacityBytes: 100_000 })
      const step = fc.record({
        fileId: fc.integer({ min: 1, max: 4 }),
        length: fc.constantFrom(0, 1, 50_000, 100_000, 100_001),
        end: fc.constantFrom("finish", "abandon", "remove")
      })
      const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const run = Effect.forEach(steps, ({ fileId, length, end }) => {
          const chunk = chunkNamed(fileId, length + 1)
          if (end === "remove") return Effect.ignore(device.remove(chunk))
          if (end === "finish") return Effect.ignore(store(device, chunk, patterned(length)))
          return Effect.ignore(Effect.scoped(device.begin({ chunk, expectedBytes: length })))
        })
        await Effect.runPromise(run)
        const copies = await Effect.runPromise(Stream.runCollect(device.list))
        const used = copies.reduce(
          (sum, copy) => sum + (copy._tag === "Intact" ? copy.length : 0),
          0
        )
        const usage = await Effect.runPromise(device.usage)
        assert.deepStrictEqual(
          [usage.used, usage.copies, usage.available],
          [used, copies.length, 100_000 - used]
        )
        assert.isAtMost(used, 100_000)
      })
      yield* Effect.promise(() => fc.assert(property, { numRuns: 15 }))
    })
  )

  it.effect("a closed device refuses everything", () =>
    Effect.gen(function* () {
      const directory = join(yield* freshDirectory, "d1")
      yield* format(directory)
      const device = yield* Effect.scoped(open(directory))
      const acts = [
        device.usage,
        device.describe(chunkNamed(1)),
        Stream.runCollect(device.list),
        Stream.runCollect(device.read({ chunk: chunkNamed(1), range: Option.none() }))
      ]
      for (const act of acts) assert.strictEqual(yield* codeOf<unknown, never>(act), "closed")
    })
  )
})
