import { assert, describe, it } from "@effect/vitest"
import {
  ChunkEndpoint,
  type ChunkEndpointHandlers,
  ChunkTransport,
  type ChunkTransportError
} from "@holdfast/storage"
import { Deferred, Effect, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { MemoryChunkPath } from "./memory-chunk-path.ts"
import { MemoryNetwork } from "./memory-network.ts"

const chunk = { fileId: 1, chunkId: 0, version: 1 }
const piece = new Uint8Array(1_000)

/** A client and a server on a network; the server takes bytes and then waits for the gate. */
const makePath = Effect.gen(function* () {
  const network = yield* MemoryNetwork.make()
  const path = MemoryChunkPath.make(network)
  const gate = yield* Deferred.make<void>()
  const entered = yield* Deferred.make<void>()
  let failed: ChunkTransportError["code"] | undefined
  const handlers: ChunkEndpointHandlers = {
    write: ({ data, length }) =>
      Effect.gen(function* () {
        yield* Stream.runDrain(data)
        yield* Deferred.succeed(entered, undefined)
        yield* Deferred.await(gate)
        const receipt = {
          deviceId: "d1",
          epoch: 1,
          chunk: { ...chunk, length, checksum: 0 },
          proof: ""
        }
        return [{ _tag: "Stored" as const, receipt }]
      }).pipe(
        Effect.catch((error) => {
          failed = error.code
          return Effect.succeed([{ _tag: "Refused" as const, deviceId: "d1", error }])
        })
      ),
    read: () =>
      Effect.succeed({
        description: { ...chunk, length: 3_000, checksum: 0 },
        data: Stream.make(piece, piece, piece).pipe(Stream.rechunk(1))
      })
  }
  const listening = yield* Effect.provide(
    Effect.flatMap(ChunkEndpoint, (endpoint) =>
      endpoint.listen({ host: "server", port: 0, transfersMax: 4, handlers })
    ),
    MemoryChunkPath.layerEndpoint(path, "server")
  )
  const transport = yield* Effect.provide(
    ChunkTransport,
    MemoryChunkPath.layerTransport(path, "client")
  )
  const target = { deviceId: "d1", hostId: "h1", url: listening.url, capability: "" }
  const write = (data: Stream.Stream<Uint8Array> = Stream.make(piece)) =>
    Effect.map(
      transport.write({ chunk, length: 1_000, targets: [target], data, deadline: "1 second" }),
      ([outcome]) => (outcome?._tag === "Refused" ? outcome.error.code : outcome?._tag)
    )
  const read = Stream.runCollect(
    transport.read({ chunk, source: target, range: Option.none(), deadline: "1 second" })
  )
  return { network, gate, entered, write, read, failed: () => failed }
})

describe("the memory chunk path under faults", () => {
  it.effect("a crash of the server breaks a transfer, and its address is dead afterwards", () =>
    Effect.gen(function* () {
      const { network, entered, write } = yield* makePath
      const writing = yield* Effect.forkChild(write())
      yield* Deferred.await(entered)
      yield* network.apply({ _tag: "Crash", node: "server" })
      assert.strictEqual(yield* Fiber.join(writing), "unreachable")
      assert.strictEqual(yield* write(), "unreachable")
    })
  )

  it.effect("a partition holds an answer back until the deadline", () =>
    Effect.gen(function* () {
      const { network, gate, entered, write } = yield* makePath
      const writing = yield* Effect.forkChild(write())
      yield* Deferred.await(entered)
      yield* network.apply({ _tag: "Block", from: "server", to: "client" })
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(writing), "timeout")
    })
  )

  it.effect("bytes that a partition holds back arrive when it heals within the deadline", () =>
    Effect.gen(function* () {
      const { network, read } = yield* makePath
      yield* network.apply({ _tag: "Partition", left: ["client"], right: ["server"] })
      const reading = yield* Effect.forkChild(read)
      yield* TestClock.adjust("500 millis")
      yield* network.apply({ _tag: "Heal" })
      yield* TestClock.adjust("100 millis")
      assert.strictEqual((yield* Fiber.join(reading)).length, 3)
    })
  )

  it.effect("a client that goes away fails the server's stream of bytes", () =>
    Effect.gen(function* () {
      const { write, failed } = yield* makePath
      const data = Stream.concat(Stream.make(piece.subarray(1)), Stream.never)
      const writing = yield* Effect.forkChild(write(data), { startImmediately: true })
      yield* TestClock.adjust("10 millis")
      yield* Fiber.interrupt(writing)
      yield* TestClock.adjust("10 millis")
      assert.strictEqual(failed(), "unreachable")
    })
  )

  it.effect("a link's delay is taken for each piece", () =>
    Effect.gen(function* () {
      const { network, read } = yield* makePath
      const faults = { loss: 0, duplication: 0, reorder: 0, delayMillis: [50, 50] } as const
      yield* network.apply({ _tag: "Links", faults, from: null, to: null })
      const reading = yield* Effect.forkChild(read)
      yield* TestClock.adjust("199 millis")
      assert.isUndefined(reading.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(reading)).length, 3)
    })
  )
})
