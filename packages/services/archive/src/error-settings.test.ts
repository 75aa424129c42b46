/** What an archive's settings say of records that cannot be archived, acted upon by a worker. */
import {
  memoryCheckpointStore,
  MemoryKeyValue,
  memoryLease,
  MemoryNetwork,
  memoryRecordSource,
  MemoryStreams
} from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { ArchiveClient, clientLayer } from "@holdfast/client"
import { type DeadLetter, DeadLetters, parseWorkerConfig, Worker } from "@holdfast/service-worker"
import { Context, Effect, Layer, References, Result, Stream } from "effect"
import { fakeClusterLayer, makeFakeCluster } from "../../../client/src/testing/fake-cluster.ts"
import { archivePipelineLayer } from "./index.ts"

const text = (value: string) => new TextEncoder().encode(value)
const good = (at: number) => ({
  timestamp: BigInt(at),
  subject: text("orders.eu"),
  headers: [],
  data: text(String(at))
})
/** No segment can hold it: its time does not fit 64 bits. */
const bad = { ...good(3), timestamp: 2n ** 64n }

type OnError =
  | { readonly onError: "halt" | "skip" }
  | { readonly onError: "dead-letter"; readonly deadLetter: string }

/** Archives 1, 2, a bad record and 4; what is read back, and what the worker says. */
const archiveWith = Effect.fnUntraced(function* (settings: OnError) {
  const cluster = makeFakeCluster(3)
  const network = yield* MemoryNetwork.make({ maxPayloadBytes: 1_048_576 })
  const keyValue = MemoryKeyValue.make()
  const streams = MemoryStreams.make()
  const letters: Array<DeadLetter> = []
  const clients = clientLayer({ cluster: cluster.name }).pipe(
    Layer.provide(MemoryNetwork.layer(network, "worker")),
    Layer.provide(
      fakeClusterLayer(cluster).pipe(Layer.provide(MemoryNetwork.layer(network, "services")))
    )
  )
  const config = Result.getOrThrow(
    parseWorkerConfig({
      cluster: "test",
      worker: "w1",
      pullWaitMs: 20,
      heartbeatIntervalMs: 20,
      checkpointIntervalMs: 20,
      discoveryIntervalMs: 20
    })
  )
  const worker = Worker.layer(config).pipe(
    Layer.provide([
      memoryCheckpointStore(keyValue),
      memoryLease(keyValue),
      memoryRecordSource(streams),
      MemoryNetwork.layer(network, "worker"),
      archivePipelineLayer({ archiveOf: () => "orders" }),
      Layer.succeed(DeadLetters, { put: (letter) => Effect.sync(() => void letters.push(letter)) })
    ])
  )
  return yield* Effect.gen(function* () {
    const archives = yield* ArchiveClient
    const segments = { bytes: 10_000, records: 25, ageMs: 30 }
    yield* archives.add({ name: "orders", stream: "ORDERS", settings: { segments, ...settings } })
    yield* streams.put("ORDERS", [good(1), good(2), bad, good(4)])
    const { status } = Context.get(yield* Layer.build(worker), Worker)
    const wait = Effect.gen(function* () {
      for (;;) {
        const [shard] = (yield* status).shards
        if (shard?.state === "halted" || shard?.checkpoint === 4n) return shard
        yield* Effect.sleep("10 millis")
      }
    })
    const shard = yield* Effect.timeout(wait, "20 seconds")
    const read = yield* Stream.runCollect(archives.read({ archive: "orders" }))
    return { shard, letters, read: read.map(({ record }) => Number(record.position)) }
  }).pipe(Effect.provide(clients))
})

const quietly = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.provideService(effect, References.MinimumLogLevel, "None")

describe("a record that cannot be archived", () => {
  it.live("halts the shard where the archive says so, and where it says nothing", () =>
    Effect.gen(function* () {
      const { letters, shard } = yield* Effect.scoped(archiveWith({ onError: "halt" }))
      assert.strictEqual(shard.state, "halted")
      assert.include(shard.reason, "position 3")
      assert.deepStrictEqual(letters, [])
    }).pipe(quietly)
  )

  it.live("is skipped and counted", () =>
    Effect.gen(function* () {
      const { letters, read, shard } = yield* Effect.scoped(archiveWith({ onError: "skip" }))
      assert.deepStrictEqual([read, letters.length], [[1, 2, 4], 0])
      assert.strictEqual(shard.counters["skipped"], 1)
    }).pipe(quietly)
  )

  it.live("becomes a dead letter", () =>
    Effect.gen(function* () {
      const settings = { onError: "dead-letter", deadLetter: "dead" } as const
      const { letters, read } = yield* Effect.scoped(archiveWith(settings))
      assert.deepStrictEqual(read, [1, 2, 4])
      assert.deepStrictEqual(
        letters.map(({ id, record }) => [id, record.data]),
        [["ORDERS@3", text("3")]]
      )
    }).pipe(quietly)
  )
})
