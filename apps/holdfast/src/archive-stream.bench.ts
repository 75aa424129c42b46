/**
 * How fast a cluster archives a JetStream stream (goal 2, zstd, fsynced, 256-byte records), against
 * a bare consumer of the same client that reads the same stream in the same run; where the
 * processor time goes; and whether the worker's memory stays as it is over millions of records.
 *
 *     node --conditions=@holdfast/source apps/holdfast/src/archive-stream.bench.ts
 *
 * A checkpoint is written every two seconds, so a short stream would measure that interval.
 */
import { natsMessagingLayer, NatsConnections } from "@holdfast/adapter-nats"
import { figuresOf } from "@holdfast/suites/figures"
import { makeCaller, makeRequestId, WorkerOperations } from "@holdfast/wire"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import {
  fullStreamOf,
  median,
  readBare,
  stream
} from "../../../packages/adapters/nats/src/testing/bench-stream.ts"
import {
  nodeArguments,
  processorSeconds,
  residentMiB,
  type ServiceProcess,
  startServices
} from "./testing/service-processes.ts"

const say = figuresOf("archive a stream")
const addArchive = ["archive", "add", stream, "--goal", "2", "--segment-age-ms", "300"]
const recordCount = 3_000_000
const bareRounds = 3
const limitMs = 200_000
const pollMs = 100
const askWorker = makeCaller(WorkerOperations.workerStatus)

/** How far the shard is: what was read, what is stored and sealed, and what is checkpointed. */
const progressOf = Effect.gen(function* () {
  const { response } = yield* askWorker({
    cluster: "holdfast",
    request: {},
    requestId: yield* makeRequestId,
    deadline: 5_000
  })
  const shard = response.shards.find((one) => one.shard === stream)
  return {
    read: Number(shard?.read ?? 0n),
    sealed: shard?.counters["finished"] ?? 0,
    checkpoint: Number(shard?.checkpoint ?? 0n)
  }
})

const nothing = { read: 0, sealed: 0, checkpoint: 0 }

/** What was seen at one moment. */
interface Sample {
  readonly at: number
  readonly read: number
  readonly sealed: number
  readonly memory: number
  readonly processor: ReadonlyArray<number>
}

/** Watches until all is archived; the clock runs from the first records that are read. */
const watch = Effect.fnUntraced(function* (
  worker: ServiceProcess,
  processes: ReadonlyArray<ServiceProcess>
) {
  const until = performance.now() + limitMs
  const samples: Array<Sample> = []
  for (;;) {
    // A worker that has just started may not answer yet.
    const { checkpoint, read, sealed } = yield* Effect.orElseSucceed(progressOf, () => nothing)
    const at = performance.now()
    if (read > 0) {
      const processor = processes.map(processorSeconds)
      samples.push({ at, read, sealed, memory: residentMiB(worker), processor })
    }
    if (checkpoint >= recordCount) return samples
    if (at > until) throw new Error(`${checkpoint} of ${recordCount} records were archived in time`)
    yield* Effect.sleep(pollMs)
  }
})

/** The memory in the middle of a stretch of the samples: from one quarter's begin to the next. */
const memoryIn = (samples: ReadonlyArray<Sample>, quarter: number): number => {
  const bound = (at: number) => Math.floor((samples.length * at) / 4)
  return median(samples.slice(bound(quarter), bound(quarter + 1)).map(({ memory }) => memory))
}

const sayRates = (samples: ReadonlyArray<Sample>, bare: number): void => {
  const [first, last] = [samples[0], samples.at(-1)]
  const sealed = samples.find((one) => one.sealed >= recordCount)
  if (first === undefined || last === undefined || sealed === undefined) {
    throw new Error("nothing was seen")
  }
  const rateUntil = ({ at }: Sample) => (recordCount - first.read) / ((at - first.at) / 1_000)
  say({ what: "bare consumer, median", value: bare, unit: "records a second" })
  say({ what: "fsynced twice and sealed", value: rateUntil(sealed), unit: "records a second" })
  say({ what: "  and checkpointed", value: rateUntil(last), unit: "records a second" })
  say({
    what: "  that against the bare consumer",
    value: rateUntil(last) / bare,
    unit: "times",
    bar: { atLeast: 0.5 }
  })
}

const sayProcessorTime = (
  samples: ReadonlyArray<Sample>,
  processes: ReadonlyArray<ServiceProcess>
): void => {
  const [first, last] = [samples[0], samples.at(-1)]
  processes.forEach(({ name }, index) => {
    const spent = (last?.processor[index] ?? 0) - (first?.processor[index] ?? 0)
    const value = (spent / (recordCount - (first?.read ?? 0))) * 1e6
    say({ what: `  processor time, ${name}`, value, unit: "µs a record" })
  })
}

const sayMemory = (samples: ReadonlyArray<Sample>): void => {
  const [second, last] = [memoryIn(samples, 1), memoryIn(samples, 3)]
  say({ what: "worker, memory in the last quarter", value: last, unit: "MiB" })
  say({
    what: "  against the second quarter",
    value: last / second,
    unit: "times",
    bar: { atMost: 1.1 }
  })
}

const main = Effect.gen(function* () {
  const { connection, serverPid, url } = yield* fullStreamOf(recordCount)
  const rates: Array<number> = []
  for (let round = 0; round < bareRounds; round++) {
    rates.push(yield* readBare(connection, { _tag: "None" }, recordCount))
  }
  const data = mkdtempSync(join(tmpdir(), "holdfast-archive-"))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => rmSync(data, { recursive: true, force: true }))
  )
  const services = yield* startServices(url, data)
  const worker = services.at(-1)
  if (worker === undefined || serverPid === undefined) throw new Error("a process is missing")
  const processes = [...services, { name: "NATS server", pid: serverPid }]
  yield* Effect.promise(() =>
    promisify(execFile)(process.execPath, [...nodeArguments, ...addArchive, "--nats", url])
  )
  const messaging = natsMessagingLayer().pipe(
    Layer.provide(NatsConnections.layer({ servers: [url], name: "bench" }))
  )
  const samples = yield* Effect.provide(watch(worker, processes), messaging)
  sayRates(samples, median(rates))
  sayProcessorTime(samples, processes)
  sayMemory(samples)
})

await Effect.runPromise(Effect.scoped(main))
