import { assert, describe, it } from "@effect/vitest"
import { FileClient } from "@holdfast/client"
import { Effect, Layer, References, Stream } from "effect"
import type { FakeCluster } from "../../../client/src/testing/fake-cluster.ts"
import { withFiles } from "../../../client/src/testing/with-files.ts"
import { idlePutsLayer, makeIdlePuts } from "./index.ts"

const bytes = Uint8Array.from(
  { length: 5_500 },
  (_, at) => (at * 31 + Math.floor(at / 1_000)) & 255
)

const put = (name: string, length: number, isTorn = false) =>
  Effect.gen(function* () {
    const files = yield* FileClient
    const whole = Stream.make(bytes.subarray(0, length))
    const data = isTorn ? Stream.concat(whole, Stream.fail("torn" as const)) : whole
    return yield* Effect.exit(files.put({ name, data, chunkBytes: 1_000 }))
  })
/** A put that is killed behind some bytes. */
const tear = (name: string, length: number) => put(name, length, true)

const liveChunks = (cluster: FakeCluster): number =>
  cluster.chunks.filter(({ isFreed }) => !isFreed).length
const unfinished = Effect.gen(function* () {
  const files = yield* FileClient
  return yield* Stream.runCollect(Stream.map(files.listUnfinished(), ({ name }) => name))
})
const quietly = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  program.pipe(Effect.provideService(References.MinimumLogLevel, "None"))

describe("archive-P3: a put that nobody goes on with", () => {
  it.live("is given up after the time, and its chunks are freed; the file of its name stays", () =>
    withFiles(({ cluster, files }) =>
      Effect.gen(function* () {
        const look = yield* makeIdlePuts({ idleForMs: 1_000 })
        yield* put("a", 2_000)
        yield* tear("a", 3_000)
        yield* tear("b", 1_000)
        yield* look(0)
        yield* look(999)
        assert.deepStrictEqual(yield* unfinished, ["a", "b"])
        assert.strictEqual(liveChunks(cluster), 6)
        yield* look(1_000)
        assert.deepStrictEqual(yield* unfinished, [])
        assert.strictEqual(liveChunks(cluster), 2)
        assert.strictEqual((yield* Stream.mkUint8Array(files.get("a"))).length, 2_000)
      })
    ).pipe(quietly)
  )

  it.live("is left alone as long as chunks come, and so are those of its name behind it", () =>
    withFiles(({ cluster }) =>
      Effect.gen(function* () {
        const look = yield* makeIdlePuts({ idleForMs: 1_000 })
        yield* tear("a", 1_000)
        yield* look(0)
        yield* tear("a", 2_000)
        yield* look(1_000)
        yield* tear("a", 3_000)
        yield* look(2_000)
        assert.strictEqual(liveChunks(cluster), 3)
        yield* put("a", 5_500)
        yield* look(3_000)
        yield* look(4_000)
        assert.strictEqual(liveChunks(cluster), 6)
      })
    ).pipe(quietly)
  )

  it.live("what a sender could not free is freed at once, whatever fails in between", () =>
    withFiles(
      ({ cluster }) =>
        Effect.gen(function* () {
          yield* put("a", 2_000)
          cluster.failNext.set("free", 1_000)
          yield* put("a", 1_000)
          assert.strictEqual(liveChunks(cluster), 3)
          const look = yield* makeIdlePuts({ idleForMs: 1_000 })
          yield* look(0)
          assert.deepStrictEqual(yield* unfinished, ["a"])
          cluster.failNext.set("free", 0)
          yield* look(1)
          assert.strictEqual(liveChunks(cluster), 1)
          assert.deepStrictEqual(yield* unfinished, [])
        }),
      { writeDeadline: "100 millis" }
    ).pipe(quietly)
  )

  it.live("is looked for until the scope closes", () =>
    withFiles(({ cluster }) =>
      Effect.gen(function* () {
        yield* tear("a", 3_000)
        yield* Layer.build(idlePutsLayer({ every: "5 millis", idleFor: "20 millis" }))
        while (liveChunks(cluster) > 0) yield* Effect.sleep("5 millis")
      }).pipe(Effect.scoped)
    ).pipe(quietly)
  )
})
