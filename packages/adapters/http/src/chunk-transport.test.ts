import { assert, describe, it } from "@effect/vitest"
import { type ChunkTarget, ChunkTransport } from "@holdfast/storage"
import { Deferred, Effect, Fiber, Layer, Option, Stream } from "effect"
import { layerChunkEndpoint, layerChunkTransport } from "./index.ts"
import { chunk, patterned, refusal, startServer, summary } from "./testing/chunk-server-fixture.ts"

const layers = Layer.mergeAll(layerChunkEndpoint, layerChunkTransport)

const write = (targets: ReadonlyArray<ChunkTarget>, bytes: Uint8Array, length = bytes.length) =>
  ChunkTransport.use((transport) =>
    transport.write({
      chunk,
      length,
      targets,
      data: Stream.fromIterable(
        Array.from({ length: Math.ceil(bytes.length / 50_000) }, (_, index) =>
          bytes.subarray(index * 50_000, (index + 1) * 50_000)
        )
      ),
      deadline: "5 seconds"
    })
  ).pipe(Effect.map(summary))

const read = (source: ChunkTarget, range?: { readonly start: number; readonly end: number }) =>
  Stream.unwrap(
    ChunkTransport.use((transport) =>
      Effect.succeed(
        transport.read({
          chunk,
          source,
          range: Option.fromUndefinedOr(range),
          deadline: "5 seconds"
        })
      )
    )
  ).pipe(
    Stream.runCollect,
    Effect.map((pieces) => new Uint8Array(Buffer.concat(pieces)))
  )

describe("the data path over HTTP", () => {
  it.live("bytes go out and come back, of any length and in any range", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      for (const length of [0, 1, 65_536, 3_000_001]) {
        const bytes = patterned(length)
        assert.deepStrictEqual(yield* write([server.target], bytes), [`d1 stored ${length}`])
        assert.deepStrictEqual(yield* read(server.target), bytes)
        const middle = Math.floor(length / 2)
        for (const [start, end] of [
          [0, 0],
          [0, middle],
          [middle, length],
          [length, length]
        ]) {
          const range = { start: start ?? 0, end: end ?? 0 }
          assert.deepStrictEqual(
            yield* read(server.target, range),
            bytes.slice(range.start, range.end)
          )
        }
        const beyond = yield* Effect.flip(read(server.target, { start: 0, end: length + 1 }))
        assert.strictEqual(beyond.code, "out-of-range")
      }
    }).pipe(Effect.provide(layers))
  )

  it.live("a chain answers one outcome for each target, in order", () =>
    Effect.gen(function* () {
      const servers = [yield* startServer("d1"), yield* startServer("d2"), yield* startServer("d3")]
      const bytes = patterned(200_000)
      assert.deepStrictEqual(
        yield* write(
          servers.map((server) => server.target),
          bytes
        ),
        ["d1 stored 200000", "d2 stored 200000", "d3 stored 200000"]
      )
      for (const server of servers) assert.deepStrictEqual(yield* read(server.target), bytes)
    }).pipe(Effect.provide(layers))
  )

  it.live("a next server that is down does not fail the first one's copy", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      const down = { ...server.target, deviceId: "d2", url: "http://127.0.0.1:1" }
      assert.deepStrictEqual(yield* write([server.target, down], patterned(100)), [
        "d1 stored 100",
        "d2 unreachable"
      ])
    }).pipe(Effect.provide(layers))
  )

  it.live("metadata-B51: a refusal before the first byte costs no byte", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1", { beforeBytes: refusal("full", "d1") })
      let pulled = 0
      const outcomes = yield* ChunkTransport.use((transport) =>
        transport.write({
          chunk,
          length: 1_000_000,
          targets: [server.target],
          data: Stream.fromEffect(
            Effect.sync(() => {
              pulled += 1
              return patterned(1_000_000)
            })
          ),
          deadline: "5 seconds"
        })
      )
      assert.deepStrictEqual([summary(outcomes), pulled], [["d1 full"], 0])
    }).pipe(Effect.provide(layers))
  )

  it.live("metadata-B53: a device that fills up midway ends the write with its reason", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1", {
        afterBytes: { bytes: 100_000, error: refusal("full", "d1") }
      })
      assert.deepStrictEqual(yield* write([server.target], patterned(20_000_000)), ["d1 full"])
    }).pipe(Effect.provide(layers))
  )

  it.live(
    "metadata-B35: a holder that finds damage midway says so, and no byte too many comes",
    () =>
      Effect.gen(function* () {
        const server = yield* startServer("d1")
        yield* write([server.target], patterned(300_000))
        const faulty = yield* startServer("d2", {
          afterBytes: { bytes: 131_072, error: refusal("corrupt", "d2", "block 2: 数") }
        })
        faulty.copies.set("7/3/11", patterned(300_000))
        let received = 0
        const error = yield* ChunkTransport.use((transport) =>
          transport
            .read({ chunk, source: faulty.target, range: Option.none(), deadline: "5 seconds" })
            .pipe(Stream.runForEach((piece) => Effect.sync(() => (received += piece.length))))
        ).pipe(Effect.flip)
        assert.deepStrictEqual(
          [error.code, error.deviceId, error.message, received],
          ["corrupt", "d2", "block 2: 数", 131_072]
        )
      }).pipe(Effect.provide(layers))
  )

  it.live("each error of a read and of a write arrives with its code", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      const codeOf = <A, R>(act: Effect.Effect<A, { readonly code: string }, R>) =>
        Effect.map(Effect.flip(act), (error) => error.code)
      assert.strictEqual(yield* codeOf(read(server.target)), "not-found")
      const stranger = { ...server.target, capability: "bad.token" }
      assert.strictEqual(yield* codeOf(read(stranger)), "denied")
      assert.deepStrictEqual(yield* write([stranger], patterned(10)), ["d1 denied"])
      const nowhere = { ...server.target, url: "http://127.0.0.1:1" }
      assert.strictEqual(yield* codeOf(read(nowhere)), "unreachable")
      const wrong = { ...server.target, url: "ftp://127.0.0.1" }
      assert.strictEqual(yield* codeOf(read(wrong)), "invalid")
      assert.deepStrictEqual(yield* write([wrong, server.target], patterned(10)), [
        "d1 invalid",
        "d1 invalid"
      ])
    }).pipe(Effect.provide(layers))
  )

  it.live("data of another length than announced is stored nowhere", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      assert.deepStrictEqual(yield* write([server.target], patterned(100), 99), ["d1 invalid"])
      assert.deepStrictEqual(yield* write([server.target], patterned(100), 101), ["d1 invalid"])
      assert.strictEqual(server.copies.size, 0)
    }).pipe(Effect.provide(layers))
  )

  it.live("one transfer over the limit is refused at once, and served when there is room", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const server = yield* startServer("d1", { transfersMax: 1, hold: Deferred.await(gate) })
      const first = yield* Effect.forkChild(write([server.target], patterned(10)))
      while (server.writes() === 0) yield* Effect.sleep("2 millis")
      assert.deepStrictEqual(yield* write([server.target], patterned(10)), ["d1 overloaded"])
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Fiber.join(first), ["d1 stored 10"])
      assert.deepStrictEqual(yield* write([server.target], patterned(10)), ["d1 stored 10"])
    }).pipe(Effect.provide(layers))
  )

  it.live("a server that never answers costs the deadline, no more", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1", { hold: Effect.never })
      const outcomes = yield* ChunkTransport.use((transport) =>
        transport.write({
          chunk,
          length: 10,
          targets: [server.target],
          data: Stream.make(patterned(10)),
          deadline: "100 millis"
        })
      )
      assert.deepStrictEqual(summary(outcomes), ["d1 timeout"])
    }).pipe(Effect.provide(layers))
  )

  it.live("metadata-B68: closing a server waits for the transfer that runs", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const started = yield* Deferred.make<ChunkTarget>()
      const serving = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* startServer("d1", { hold: Deferred.await(gate) })
          const writing = yield* Effect.forkDetach(write([server.target], patterned(100_000)))
          while (server.writes() === 0) yield* Effect.sleep("2 millis")
          yield* Deferred.succeed(started, server.target)
          yield* Effect.forkDetach(
            Effect.andThen(Effect.sleep("50 millis"), Deferred.succeed(gate, undefined))
          )
          return writing
        })
      )
      assert.deepStrictEqual(yield* Fiber.join(serving), ["d1 stored 100000"])
      const target = yield* Deferred.await(started)
      assert.deepStrictEqual(yield* write([target], patterned(10)), ["d1 unreachable"])
    }).pipe(Effect.provide(layers))
  )
})
