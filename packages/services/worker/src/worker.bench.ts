/**
 * What a worker costs beside its source, with a stage that does nothing.
 *
 *     node --conditions=@holdfast/source packages/services/worker/src/worker.bench.ts
 *
 * The baseline reads the same records from the same source in the same batches and drops them.
 * Accounting of 0.7 microseconds a record leaves 0.9 of a source of 155,000 records a second.
 */
import {
  memoryCheckpointStore,
  MemoryKeyValue,
  memoryLease,
  MemoryNetwork,
  memoryRecordSource,
  MemoryStreams
} from "@holdfast/adapter-memory"
import { RecordSource } from "@holdfast/records"
import { figuresOf } from "@holdfast/suites/figures"
import { Effect, Layer, Option, Result } from "effect"
import { parseWorkerConfig, type Pipeline, recordStage, Worker } from "./index.ts"

const count = 400_000
const batch = 1_024
const say = figuresOf("worker")

const records = Array.from({ length: count }, (_, at) => ({
  timestamp: BigInt(at),
  subject: new Uint8Array(16),
  headers: [],
  data: new Uint8Array(256)
}))

const readBare = Effect.fnUntraced(function* () {
  const source = yield* RecordSource
  const reader = yield* source.open({ shard: "bench", after: Option.none() })
  const started = performance.now()
  let read = 0
  while (read < count) {
    const got = yield* reader.next({ maxRecords: batch, maxBytes: 4_194_304, wait: "1 second" })
    read += got.records.length
  }
  return (count / (performance.now() - started)) * 1_000
})

/** A stage that counts and does nothing, and tells when it has seen everything. */
const nothing = (finish: (elapsed: number) => void): Layer.Layer<Pipeline> => {
  let started = 0
  let seen = 0
  return recordStage(() => {
    if (seen === 0) started = performance.now()
    seen += 1
    if (seen === count) finish(performance.now() - started)
  })
}

const main = Effect.gen(function* () {
  const streams = MemoryStreams.make()
  yield* streams.put("bench", records)
  const keyValue = MemoryKeyValue.make()
  const source = memoryRecordSource(streams)
  const bare = Effect.scoped(readBare()).pipe(Effect.provide(source))
  yield* bare
  const baseline = yield* bare
  const config = Result.getOrThrow(
    parseWorkerConfig({ cluster: "c1", worker: "w1", batchRecords: batch })
  )
  const { promise, resolve } = Promise.withResolvers<number>()
  const ports = Layer.mergeAll(
    source,
    memoryCheckpointStore(keyValue),
    memoryLease(keyValue),
    MemoryNetwork.layerAlone(),
    nothing(resolve)
  )
  const { elapsed, flush } = yield* Effect.scoped(
    Effect.gen(function* () {
      const worker = yield* Worker
      const elapsed = yield* Effect.promise(() => promise)
      const started = performance.now()
      yield* worker.drain
      return { elapsed, flush: performance.now() - started }
    }).pipe(Effect.provide(Worker.layer(config).pipe(Layer.provide(ports))))
  )
  const rate = (count / elapsed) * 1_000
  say({ what: "a stage that does nothing", value: rate, unit: "records a second" })
  say({
    what: "  a bare read of the same memory source",
    value: baseline,
    unit: "records a second"
  })
  say({
    what: "  accounting per record",
    value: (1 / rate - 1 / baseline) * 1e6,
    unit: "microseconds"
  })
  say({
    what: "full flush and release after the last report",
    value: flush,
    unit: "ms",
    bar: { atMost: 10 }
  })
})

await Effect.runPromise(main)
