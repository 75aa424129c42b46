import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { spoilDevice } from "./testing/fake-cluster.ts"
import { withFiles } from "./testing/with-files.ts"

const bytesOf = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * 31) & 255)

const whole = <E>(stream: Stream.Stream<Uint8Array, E>) => Stream.mkUint8Array(stream)
const isLive = ({ isFreed }: { readonly isFreed: boolean }) => !isFreed

describe("plain files", () => {
  it.live.each([0, 1, 999, 1_000, 1_001, 12_345])("%i bytes come back as they went", (length) =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        const bytes = bytesOf(length)
        const parts = [bytes.subarray(0, 7), bytes.subarray(7, 2_500), bytes.subarray(2_500)]
        const data = Stream.fromIterable(parts)
        const { file } = yield* files.put({ name: "dir/a file", data, chunkBytes: 1_000 })
        assert.strictEqual(file.bytes, length)
        assert.strictEqual(cluster.chunks.length, Math.ceil(length / 1_000))
        const back = yield* whole(files.get("dir/a file"))
        assert.strictEqual(Buffer.compare(back, bytes), 0)
      })
    )
  )

  it.live("a range is a slice of the whole, across chunks", () =>
    withFiles(({ files }) =>
      Effect.gen(function* () {
        const bytes = bytesOf(3_500)
        yield* files.put({ name: "a", data: Stream.make(bytes), chunkBytes: 1_000 })
        for (const [from, to] of [
          [0, 0],
          [999, 1_000],
          [1_500, 3_200],
          [3_000, 9_999]
        ] as const) {
          const part = yield* whole(files.get("a", { from, to }))
          assert.strictEqual(Buffer.compare(part, bytes.subarray(from, to + 1)), 0)
        }
        const beyond = yield* Effect.result(whole(files.get("a", { from: 3_500 })))
        assert.isTrue(Result.isFailure(beyond) && beyond.failure._tag === "InvalidRequest")
      })
    )
  )

  it.live("a new file of the same name takes the place of the old one, which is freed", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* files.put({ name: "a", data: Stream.make(bytesOf(10)) })
        yield* files.put({ name: "a", data: Stream.make(bytesOf(20)) })
        assert.strictEqual((yield* whole(files.get("a"))).length, 20)
        assert.strictEqual(cluster.chunks.filter(isLive).length, 1)
      })
    )
  )

  it.live("are listed by prefix, and deleted", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        for (const name of ["b/1", "a/2", "a/1"]) {
          yield* files.put({ name, data: Stream.make(bytesOf(5)) })
        }
        const names = (prefix?: string) =>
          Effect.map(Stream.runCollect(files.list(prefix)), (all) => all.map(({ name }) => name))
        assert.deepStrictEqual(yield* names(), ["a/1", "a/2", "b/1"])
        assert.deepStrictEqual(yield* names("a/"), ["a/1", "a/2"])
        yield* files.remove("a/2")
        assert.deepStrictEqual(yield* names("a/"), ["a/1"])
        assert.strictEqual(cluster.chunks.filter(isLive).length, 2)
        const gone = yield* Effect.result(files.remove("a/2"))
        assert.isTrue(Result.isFailure(gone) && gone.failure.message.includes('"a/2"'))
      })
    )
  )

  it.live("damage is an error, never other bytes", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        yield* files.put({ name: "a", data: Stream.make(bytesOf(100)) })
        for (const { id } of cluster.devices) spoilDevice(cluster, id)
        const read = yield* Effect.result(whole(files.get("a")))
        assert.isTrue(Result.isFailure(read))
        for (const chunk of cluster.chunks) chunk.isFreed = true
        const missing = yield* Effect.result(whole(files.get("a")))
        assert.isTrue(Result.isFailure(missing) && missing.failure._tag === "FileDamaged")
      })
    )
  )

  it.live("a name with control characters is refused", () =>
    withFiles(({ files }) =>
      Effect.gen(function* () {
        const put = files.put({ name: "a\nb", data: Stream.make(bytesOf(1)) })
        const refused = yield* Effect.result(put)
        assert.isTrue(
          Result.isFailure(refused) && refused.failure.message.includes("control characters")
        )
      })
    )
  )
})
