/** Real workers over the pipeline: whatever is stopped or fails, each record is archived once. */
import {
  memoryCheckpointStore,
  MemoryKeyValue,
  memoryLease,
  MemoryNetwork,
  memoryRecordSource,
  MemoryStreams
} from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import type { Aggregation } from "@holdfast/catalogue"
import { ArchiveClient, clientLayer } from "@holdfast/client"
import type { NewRecord } from "@holdfast/records"
import { parseWorkerConfig, Worker } from "@holdfast/service-worker"
import { Effect, Exit, Layer, References, Result, Scope, Stream } from "effect"
import {
  type FakeCluster,
  fakeClusterLayer,
  makeFakeCluster
} from "../../../client/src/testing/fake-cluster.ts"
import { aggregateOf, emptyAggregate } from "../../worker/src/testing/aggregate.ts"
import { archivePipelineLayer } from "./index.ts"

const text = (value: string) => new TextEncoder().encode(value)
const plainOf = (at: number): NewRecord => ({
  timestamp: BigInt(at) * 1_000_000n,
  subject: text(`orders.${at % 7}`),
  headers: at % 4 === 0 ? [[text("Nats-Msg-Id"), text(`id-${at}`)]] : [],
  data: at % 11 === 0 ? text("") : text(`{"at":${at},"text":"${"y".repeat(at % 50)}"}`)
})

const userRecordsOf = (at: number) =>
  Array.from({ length: at % 41 }, (_, index) => [`key ${index % 3}`, `${at}/${index}`] as const)

/** Every third message is an aggregate: of none, of one, or of more than a segment may hold. */
const aggregatedOf = (at: number): NewRecord =>
  at % 3 !== 0
    ? plainOf(at)
    : {
        ...plainOf(at),
        data: at % 41 === 0 ? emptyAggregate() : aggregateOf(...userRecordsOf(at))
      }

/** What is to be read back of a message that was opened. */
const openedOf = (at: number) =>
  at % 3 !== 0
    ? [{ position: BigInt(at), part: 0, ...plainOf(at) }]
    : userRecordsOf(at).map(([partitionKey, data], part) => ({
        position: BigInt(at),
        part,
        ...plainOf(at),
        headers: [
          ...plainOf(at).headers,
          [text("Kinesis-Partition-Key"), text(partitionKey)] as const
        ],
        data: text(data)
      }))

/** A small generator of numbers below a bound, so that a seed names a life. */
const numbersFrom = (seed: number) => {
  let state = seed
  return (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * bound)
  }
}

const config = (worker: string) =>
  Result.getOrThrow(
    parseWorkerConfig({
      cluster: "test",
      worker,
      batchRecords: 40,
      pullWaitMs: 20,
      heartbeatIntervalMs: 50,
      checkpointIntervalMs: 20,
      drainDeadlineMs: 20,
      leaseTermMs: 300,
      leaseMarginMs: 60,
      leaseRenewalMs: 60,
      discoveryIntervalMs: 50,
      retryFirstMs: 10,
      retryHighestMs: 50
    })
  )

const plague = (cluster: FakeCluster, random: (bound: number) => number): void => {
  const operations = ["alloc", "publish", "request", "request-answer", "locate"]
  const operation = operations[random(operations.length)] ?? "alloc"
  cluster.failNext.set(operation, random(4))
  const device = cluster.devices[random(cluster.devices.length)]
  if (device !== undefined) device.isDown = random(3) === 0
}

const heal = (cluster: FakeCluster): void => {
  cluster.failNext.clear()
  for (const device of cluster.devices) device.isDown = false
}

const records = 600
const numbers = Array.from({ length: records }, (_, at) => at + 1)

const live = Effect.fnUntraced(function* (
  seed: number,
  recordOf: (at: number) => NewRecord,
  aggregation: Aggregation
) {
  const random = numbersFrom(seed)
  const cluster = makeFakeCluster(4)
  const network = yield* MemoryNetwork.make({ maxPayloadBytes: 1_048_576 })
  const keyValue = MemoryKeyValue.make()
  const streams = MemoryStreams.make()
  const services = yield* Layer.build(
    fakeClusterLayer(cluster).pipe(Layer.provide(MemoryNetwork.layer(network, "services")))
  )
  const shared = Layer.mergeAll(
    memoryCheckpointStore(keyValue),
    memoryLease(keyValue),
    memoryRecordSource(streams)
  )
  const clientOf = (name: string) =>
    clientLayer({
      cluster: cluster.name,
      sender: name,
      writeDeadline: "300 millis",
      callDeadline: "300 millis"
    }).pipe(
      Layer.provide(MemoryNetwork.layer(network, name)),
      Layer.provide(Layer.succeedContext(services))
    )
  const startWorker = Effect.fnUntraced(function* (name: string) {
    const pipeline = archivePipelineLayer({ archiveOf: () => "orders" }).pipe(
      Layer.provide(clientOf(name))
    )
    const layer = Worker.layer(config(name)).pipe(
      Layer.provide([shared, MemoryNetwork.layer(network, name), pipeline])
    )
    const scope = yield* Scope.make()
    yield* Layer.buildWithScope(Layer.fresh(layer), scope)
    return Scope.close(scope, Exit.void)
  })
  return yield* Effect.gen(function* () {
    const archives = yield* ArchiveClient
    const segments = { bytes: 10_000, records: 25, ageMs: 30 }
    yield* archives.add({ name: "orders", stream: "ORDERS", aggregation, settings: { segments } })
    let put = 0
    for (let life = 0; life < 5; life++) {
      const stop = yield* startWorker(`worker-${life}`)
      while (put < ((life + 1) * records) / 5) {
        yield* streams.put("ORDERS", [recordOf(++put), recordOf(++put)])
        if (random(12) === 0) plague(cluster, random)
        if (random(8) === 0) yield* Effect.sleep("3 millis")
      }
      yield* Effect.sleep(random(60))
      yield* stop
    }
    heal(cluster)
    const stop = yield* startWorker("worker-last")
    while ((yield* streams.acknowledged("ORDERS")) < BigInt(records)) {
      yield* Effect.sleep("10 millis")
    }
    yield* stop
    const read = yield* Stream.runCollect(archives.read({ archive: "orders" }))
    const report = yield* archives.verify({ archive: "orders", repair: true })
    const again = yield* Stream.runCollect(archives.read({ archive: "orders" }))
    return { read, again, report }
  }).pipe(Effect.provide(clientOf("reader")))
})

const comparable = <R extends { readonly headers: NewRecord["headers"] }>(record: R) => ({
  ...record,
  headers: record.headers.map((one) => [...one])
})

describe("an archive that lives through stops, outages and lost answers", () => {
  it.live.each([1, 2, 3, 4])("holds each record once, byte for byte (seed %i)", (seed) =>
    Effect.gen(function* () {
      const { again, read, report } = yield* live(seed, plainOf, "none")
      const expected = numbers.map((at) => ({ position: BigInt(at), part: 0, ...plainOf(at) }))
      assert.deepStrictEqual(
        read.map(({ record }) => comparable(record)),
        expected.map(comparable)
      )
      assert.deepStrictEqual(again.length, read.length)
      const tags = new Set(report.findings.map(({ _tag }) => _tag))
      for (const broken of ["Gap", "Unreadable", "BadCopy", "NoChunk"] as const) {
        assert.isFalse(tags.has(broken))
      }
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live.each([5, 6, 7, 8])("holds each user record of an aggregate once (seed %i)", (seed) =>
    Effect.gen(function* () {
      const { again, read, report } = yield* live(seed, aggregatedOf, "kpl")
      assert.deepStrictEqual(
        read.map(({ record }) => comparable(record)),
        numbers.flatMap(openedOf).map(comparable)
      )
      assert.deepStrictEqual(again.length, read.length)
      // Messages of no user records are no gaps that matter.
      const tags = new Set(report.findings.map(({ _tag }) => _tag))
      for (const broken of ["Unreadable", "BadCopy", "NoChunk"] as const) {
        assert.isFalse(tags.has(broken))
      }
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("keeps aggregates as they are where nothing else was said", () =>
    Effect.gen(function* () {
      const { read } = yield* live(9, aggregatedOf, "none")
      assert.deepStrictEqual(
        read.map(({ record }) => record.data),
        numbers.map((at) => aggregatedOf(at).data)
      )
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )
})
