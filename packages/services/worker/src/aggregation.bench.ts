/**
 * What opening aggregated messages costs a worker, one line a figure.
 *
 *     node --conditions=@holdfast/source packages/services/worker/src/aggregation.bench.ts
 *
 * The baseline is the deaggregator alone over the same messages.
 */
import { hash } from "node:crypto"
import {
  memoryCheckpointStore,
  MemoryKeyValue,
  memoryLease,
  MemoryNetwork,
  memoryRecordSource,
  MemoryStreams
} from "@holdfast/adapter-memory"
import { Aggregator, deaggregator } from "@holdfast/aggregate"
import { defaultLimits, Tracker } from "@holdfast/disposition"
import { figuresOf } from "@holdfast/suites/figures"
import { Effect, Layer, Option, Result } from "effect"
import { recordOpener } from "./aggregates.ts"
import { parseWorkerConfig, recordStage, Worker } from "./index.ts"

const perMessage = 400
const messages = 1_000
const total = perMessage * messages
const md5 = (bytes: Uint8Array): Uint8Array => hash("md5", bytes, "buffer")

const say = figuresOf("worker")

const aggregator = new Aggregator({ md5 })
const message = (): Uint8Array => {
  for (let at = 0; at < perMessage; at++) {
    const partitionKey = `c2a75787-469b-4310-840d-${String(at % 10).padStart(12, "0")}`
    aggregator.add({ partitionKey, data: new Uint8Array(100).fill(at % 251) })
  }
  return Option.getOrThrow(aggregator.finish()).data
}
const records = Array.from({ length: messages }, (_, at) => ({
  position: BigInt(at + 1),
  timestamp: 0n,
  subject: new Uint8Array(0),
  headers: [],
  data: message()
}))

/** Millions of user records a second: the best of some turns. */
const rate = (turn: () => void): number => {
  let best = 0
  for (let at = 0; at < 12; at++) {
    const started = performance.now()
    turn()
    best = Math.max(best, total / (performance.now() - started) / 1_000)
  }
  return best
}

const open = deaggregator({ md5 })
const alone = rate(() => {
  for (const { data } of records) open(data)
})

const openRecord = recordOpener({ aggregation: "kpl", limits: defaultLimits })
const accounted = rate(() => {
  const tracker = new Tracker({ limits: defaultLimits, epoch: 1, after: undefined })
  for (const record of records) {
    const opened = openRecord?.(record)
    if (opened?._tag !== "Aggregate") throw new Error("a message was not opened")
    const parts = opened.records.length
    const { position } = record
    const admission = tracker.admit({ position, bytes: record.data.length, seenAt: 0, parts })
    if (admission._tag !== "Admitted") throw new Error("a message was not admitted")
    const { ordinal } = admission
    for (let index = 0; index < parts; index++) {
      tracker.completePart(ordinal, 1, { index, total: parts })
    }
  }
  if (tracker.lowWatermark !== BigInt(messages)) throw new Error("a message is not finished")
})

const throughWorker = Effect.gen(function* () {
  const streams = MemoryStreams.make()
  yield* streams.put("bench", records)
  const keyValue = MemoryKeyValue.make()
  const { promise, resolve } = Promise.withResolvers<number>()
  let seen = 0
  let started = 0
  const nothing = recordStage(() => {
    if (seen === 0) started = performance.now()
    seen += 1
    if (seen === total) resolve(performance.now() - started)
  })
  const ports = Layer.mergeAll(
    memoryRecordSource(streams),
    memoryCheckpointStore(keyValue),
    memoryLease(keyValue),
    MemoryNetwork.layerAlone(),
    nothing
  )
  const config = Result.getOrThrow(
    parseWorkerConfig({ cluster: "c1", worker: "w1", aggregation: "kpl" })
  )
  const elapsed = yield* Effect.promise(() => promise).pipe(
    Effect.provide(Layer.provide(Worker.layer(config), ports))
  )
  return total / elapsed / 1_000
})

say({
  what: "deaggregate, MD5 and account, 100 B",
  value: accounted,
  unit: "million records a second",
  bar: { atLeast: 1.5 }
})
say({
  what: "  the deaggregator alone over the same messages",
  value: alone,
  unit: "million records a second"
})
say({
  what: "a stage that does nothing, aggregated",
  value: await Effect.runPromise(throughWorker),
  unit: "million records a second"
})
