import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { FileClient } from "./index.ts"
import { type FakeCluster, spoilDevice } from "./testing/fake-cluster.ts"
import { withFiles } from "./testing/with-files.ts"

type Files = FileClient["Service"]

/** No two pieces of a thousand are equal. */
const bytesOf = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * 31 + Math.floor(at / 1_000)) & 255)

const bytes = bytesOf(5_500)
const common = { name: "a", chunkBytes: 1_000 }
const putWhole = (files: Files, data = bytes) => files.put({ ...common, data: Stream.make(data) })
/** A put that dies behind some bytes, with what it committed so far left where it is. */
const putTorn = (files: Files, length: number) =>
  Effect.flip(
    files.put({
      ...common,
      data: Stream.concat(Stream.make(bytes.subarray(0, length)), Stream.fail("torn" as const))
    })
  )
const liveChunks = (cluster: FakeCluster): number =>
  cluster.chunks.filter(({ isFreed }) => !isFreed).length
const allocations = (cluster: FakeCluster): number =>
  cluster.calls.filter((call) => call === "alloc").length
const unfinished = (files: Files) => Stream.runCollect(files.listUnfinished())

/** The file is there with these bytes, in six chunks, and nothing else is. */
const assertWhole = Effect.fnUntraced(function* (
  files: Files,
  cluster: FakeCluster,
  wanted = bytes
) {
  const back = yield* Stream.mkUint8Array(files.get("a"))
  assert.strictEqual(Buffer.compare(back, wanted), 0)
  assert.strictEqual(liveChunks(cluster), 6)
  assert.deepStrictEqual(yield* unfinished(files), [])
})

describe("a put that did not end", () => {
  it.live("leaves its chunks for the next one, which stores nothing twice", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* putTorn(files, 3_200), "torn")
        assert.strictEqual(liveChunks(cluster), 3)
        assert.isTrue((yield* Effect.flip(files.show("a")))._tag === "FileNotFound")
        assert.deepStrictEqual(
          (yield* unfinished(files)).map(({ name }) => name),
          ["a"]
        )
        const { keptChunks, replacedPuts } = yield* putWhole(files)
        assert.deepStrictEqual([keptChunks, replacedPuts, allocations(cluster)], [3, 0, 6])
        yield* assertWhole(files, cluster)
      })
    )
  )

  it.live("any number of them, with holes, one after the other", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        for (const length of [2_000, 3_000, 4_000]) yield* putTorn(files, length)
        assert.strictEqual(allocations(cluster), 4)
        for (const chunk of cluster.chunks.slice(1, 2)) chunk.isFreed = true
        assert.strictEqual((yield* putWhole(files)).keptChunks, 3)
        yield* assertWhole(files, cluster)
      })
    )
  )

  it.live("is freed when the source is another one", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* putTorn(files, 3_000)
        const other = bytes.slice()
        other[1_500] = 1
        const { keptChunks, replacedPuts } = yield* putWhole(files, other)
        assert.deepStrictEqual([keptChunks, replacedPuts], [0, 1])
        yield* assertWhole(files, cluster, other)
      })
    )
  )

  it.live("a chunk of the same checksum and other bytes is not taken for the source's", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* putTorn(files, 3_000)
        const other = bytes.slice()
        // The generator polynomial of CRC-32, with its bits in reverse: the checksum stays.
        const generator = [0x41, 0x06, 0x71, 0xdb, 0x01]
        for (const [at, bits] of generator.entries()) {
          other[1_500 + at] = (other[1_500 + at] ?? 0) ^ bits
        }
        assert.strictEqual((yield* putWhole(files, other)).keptChunks, 2)
        const back = yield* Stream.mkUint8Array(files.get("a"))
        assert.strictEqual(Buffer.compare(back, other), 0)
        yield* files.remove("a")
        assert.strictEqual(liveChunks(cluster), 0)
      })
    )
  )

  it.live("a stored chunk that cannot be read is written anew", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* putTorn(files, 2_000)
        for (const { id } of cluster.devices) spoilDevice(cluster, id)
        assert.strictEqual((yield* putWhole(files)).keptChunks, 0)
        const back = yield* Stream.mkUint8Array(files.get("a"))
        assert.strictEqual(Buffer.compare(back, bytes), 0)
        yield* files.remove("a")
        assert.strictEqual(liveChunks(cluster), 0)
      })
    )
  )

  it.live("another goal or chunk size begins anew and frees what was there", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* putTorn(files, 3_000)
        const data = Stream.make(bytes)
        const { file, keptChunks } = yield* files.put({ ...common, data, goal: 3 })
        assert.deepStrictEqual([file.goal, keptChunks], [3, 0])
        yield* assertWhole(files, cluster)
      })
    )
  )

  it.live("is freed by a put that is not to go on, and by remove", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* putTorn(files, 3_000)
        const data = Stream.make(bytes)
        assert.strictEqual((yield* files.put({ ...common, data, resume: false })).keptChunks, 0)
        yield* assertWhole(files, cluster)
        yield* putTorn(files, 3_000)
        yield* files.remove("a")
        assert.strictEqual(liveChunks(cluster), 0)
        yield* putTorn(files, 2_000)
        yield* files.remove("a")
        assert.strictEqual(liveChunks(cluster), 0)
        assert.isTrue((yield* Effect.flip(files.remove("a")))._tag === "FileNotFound")
      })
    )
  )

  it.live("is freed when it is given up, and the file of the name stays", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* putWhole(files)
        yield* putTorn(files, 3_000)
        assert.strictEqual(liveChunks(cluster), 9)
        const [left] = yield* unfinished(files)
        yield* files.giveUp("a", left?.unfinished[0])
        yield* assertWhole(files, cluster)
        yield* putTorn(files, 2_000)
        assert.deepStrictEqual((yield* putWhole(files)).keptChunks, 2)
        yield* assertWhole(files, cluster)
      })
    )
  )

  it.live("a put that ends after it was given up is told so, and nothing of it stays", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* putWhole(files)
        const giveUp = Stream.unwrap(
          Effect.gen(function* () {
            const [left] = yield* unfinished(files)
            yield* files.giveUp("a", left?.unfinished[0])
            return Stream.make(bytes.subarray(3_000))
          })
        )
        const data = Stream.concat(Stream.make(bytes.subarray(0, 3_000)), giveUp)
        const error = yield* Effect.flip(files.put({ ...common, data }))
        assert.match(error.message, /this put was given up: put it again/u)
        yield* assertWhole(files, cluster)
      })
    )
  )

  it.live("the file of the name stays as it is until the new one is whole", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* files.put({ name: "a", data: Stream.make(bytesOf(10)) })
        yield* putTorn(files, 3_000)
        assert.strictEqual((yield* Stream.mkUint8Array(files.get("a"))).length, 10)
        assert.strictEqual((yield* putWhole(files)).keptChunks, 3)
        yield* assertWhole(files, cluster)
      })
    )
  )

  it.live("what a sender could not free is freed by the next event of the name", () =>
    withFiles(
      ({ cluster, files }) =>
        Effect.gen(function* () {
          yield* files.put({ name: "a", data: Stream.make(bytesOf(10)) })
          cluster.failNext.set("free", 1_000)
          yield* putWhole(files)
          assert.strictEqual(liveChunks(cluster), 7)
          assert.strictEqual((yield* unfinished(files)).length, 1)
          cluster.failNext.set("free", 0)
          yield* putWhole(files)
          yield* assertWhole(files, cluster)
          cluster.failNext.set("free", 1_000)
          yield* files.remove("a")
          cluster.failNext.set("free", 0)
          assert.isTrue((yield* Effect.flip(files.remove("a")))._tag === "FileNotFound")
          assert.strictEqual(liveChunks(cluster), 0)
        }),
      { writeDeadline: "100 millis" }
    )
  )

  it.live("two at a time do not harm each other", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* putTorn(files, 3_000)
        const puts = [putWhole(files), putWhole(files), putWhole(files)]
        const ends = yield* Effect.all(puts, { concurrency: "unbounded" })
        for (const { keptChunks } of ends) assert.isAtLeast(keptChunks, 3)
        const back = yield* Stream.mkUint8Array(files.get("a"))
        assert.strictEqual(Buffer.compare(back, bytes), 0)
        yield* files.remove("a")
        assert.strictEqual(liveChunks(cluster), 0)
      })
    )
  )
})
