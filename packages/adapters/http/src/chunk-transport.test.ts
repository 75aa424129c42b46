import { assert, describe, it } from "@effect/vitest"
import { type ChunkTarget, ChunkTransport } from "@holdfast/storage"
import { Effect, Layer, Option, Stream } from "effect"
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
})
