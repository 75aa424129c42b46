/**
 * A million chunks come back: the start of the service, the end of safe mode, and what waits while
 * a device reports all of them, with a thousand allocations a second beside it. Parts are encoded
 * beforehand; service and clients are one process over memory messaging, the journal is on disk.
 *
 *   node --conditions=@holdfast/source packages/services/metadata/src/reports.bench.ts [chunks]
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileJournal } from "@holdfast/adapter-file"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { figuresOf } from "@holdfast/suites/figures"
import {
  DeviceId,
  encodeCopies,
  HostId,
  MetadataChunkServerOperations,
  MetadataOperations
} from "@holdfast/wire"
import { Effect, Fiber, Layer, Logger } from "effect"
import { startMetadataService } from "./index.ts"
import { copyOf, seedChunks } from "./testing/known-chunks.ts"
import { ask, makePuppet, quickOptions, type Puppet } from "./testing/world.ts"

const say = figuresOf("metadata reports")
const chunks = Number(process.argv[2] ?? 1_000_000)
const partCopies = 10_000
const extensionMs = 1_000
/** A tick sees that all is there and begins the extension, another one sees that it is over. */
const tickMs = 200
const allocationsASecond = 1_000
const heartbeatEveryMs = 5
const held = `${chunks.toLocaleString("en-US")} chunks`

const parts: ReadonlyArray<Uint8Array> = Array.from(
  { length: Math.ceil(chunks / partCopies) },
  (_, part) => {
    const length = Math.min(partCopies, chunks - part * partCopies)
    return encodeCopies(Array.from({ length }, (_one, at) => copyOf(part * partCopies + at)))
  }
)

const who = { hostId: HostId.make("host-big"), incarnation: 1, url: "memory://big" }
const deviceId = DeviceId.make("big")

/** Says hello for the device that holds everything, and sends its report. */
const reportAll = Effect.gen(function* () {
  const digest = { count: 0, low: 0, high: 0 }
  const room = { capacity: 1e12, used: 0, available: 1e12 }
  const said = { deviceId, epoch: 1, ...room, digest }
  const beat = { ...who, sequence: 1, outcomes: [], changes: [], goodbye: false }
  const { reportsWanted } = yield* ask(MetadataChunkServerOperations.heartbeat, {
    ...beat,
    devices: [said]
  })
  const lease = reportsWanted[0]?.lease ?? ""
  const named = { ...who, deviceId, epoch: 1, lease, reportId: "r", damaged: 0 }
  for (const [part, attachment] of parts.entries()) {
    const last = part === parts.length - 1
    yield* ask(
      MetadataChunkServerOperations.online,
      { ...named, part, last },
      { attachment: new Uint8Array(attachment) }
    )
  }
})

/** A service on the journal of all chunks, and what it took to start it. */
const withService = <A, E>(
  directory: string,
  map: { readonly safeModeThreshold: number; readonly extensionMs: number },
  use: Effect.Effect<A, E, Layer.Success<ReturnType<typeof MemoryNetwork.layer>>>
) =>
  Effect.gen(function* () {
    const network = yield* MemoryNetwork.make()
    const started = performance.now()
    const ports = yield* Layer.build(
      Layer.fresh(Layer.merge(MemoryNetwork.layer(network, "metadata"), fileJournal({ directory })))
    )
    const silence = { staleAfterMs: 1e9, deadAfterMs: 1e9 }
    yield* startMetadataService({
      ...quickOptions,
      map: { ...quickOptions.map, ...silence, ...map },
      service: { tickMs, invariantsMs: 1e9 }
    }).pipe(Effect.provideContext(ports))
    const startMs = performance.now() - started
    const client = yield* Layer.build(MemoryNetwork.layer(network, "client"))
    return { startMs, value: yield* Effect.provideContext(use, client) }
  }).pipe(Effect.scoped)

/** How much later than the last report and the extension safe mode was left. */
const measureSafeMode = Effect.gen(function* () {
  const began = performance.now()
  yield* reportAll
  const reported = performance.now()
  while ((yield* ask(MetadataOperations.status, {})).safeMode.phase !== "off") {
    yield* Effect.sleep(5)
  }
  const lateMs = performance.now() - reported - extensionMs
  return { lateMs, reportMs: reported - began }
})

const waitsOf = (puppet: Puppet, until: () => boolean) =>
  Effect.gen(function* () {
    const waits: Array<number> = []
    while (!until()) {
      const sent = performance.now()
      yield* puppet.beat()
      waits.push(performance.now() - sent)
      yield* Effect.sleep(heartbeatEveryMs)
    }
    waits.sort((left, right) => left - right)
    return { p99: waits[Math.floor(waits.length * 0.99)] ?? 0, longest: waits.at(-1) ?? 0 }
  })

/** Asks for room at the wanted rate until it is told to stop; answers how often. */
const allocate = (fileId: number, until: () => boolean) =>
  Effect.gen(function* () {
    const request = { fileId, size: 1, want: 1, min: 1, exclude: [] }
    const started = performance.now()
    let asked = 0
    while (!until()) {
      const due = ((performance.now() - started) / 1_000) * allocationsASecond
      for (; asked < due; asked += 1) {
        yield* Effect.forkChild(Effect.ignore(ask(MetadataOperations.alloc, request)))
      }
      yield* Effect.sleep(heartbeatEveryMs)
    }
    return asked / ((performance.now() - started) / 1_000)
  })

/** Heartbeats of one device while another one reports everything, with allocations beside. */
const measureHerd = Effect.gen(function* () {
  const small = makePuppet("small")
  yield* small.join()
  const { fileId } = yield* ask(MetadataOperations.createFile, {})
  const started = performance.now()
  const reporting = yield* Effect.forkChild(reportAll, { startImmediately: true })
  const isOver = () => reporting.pollUnsafe() !== undefined
  const [waits, rate] = yield* Effect.all([waitsOf(small, isOver), allocate(fileId, isOver)], {
    concurrency: "unbounded"
  })
  yield* Fiber.join(reporting)
  return { ...waits, rate, reportMs: performance.now() - started }
})

const bench = Effect.gen(function* () {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-reports-bench-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true })))
  yield* Effect.provide(seedChunks(chunks), fileJournal({ directory }))
  const safe = { safeModeThreshold: 0.999, extensionMs }
  const restarted = yield* withService(directory, safe, measureSafeMode)
  const { lateMs, reportMs } = restarted.value
  say({ what: `start with ${held}`, value: restarted.startMs, unit: "ms" })
  say({ what: "  report of all of them, in safe mode", value: reportMs, unit: "ms" })
  say({
    what: "  safe mode left, after the last report and the extension",
    value: lateMs,
    unit: "ms",
    bar: { atMost: 2 * tickMs }
  })
  const open = { safeModeThreshold: 0, extensionMs: 0 }
  const { value } = yield* withService(directory, open, measureHerd)
  say({ what: `report of ${held} beside allocations`, value: value.reportMs, unit: "ms" })
  say({ what: "  allocations meanwhile", value: value.rate, unit: "a second" })
  say({ what: "  heartbeat meanwhile, p99", value: value.p99, unit: "ms", bar: { atMost: 50 } })
  say({
    what: "  heartbeat meanwhile, longest",
    value: value.longest,
    unit: "ms",
    bar: { atMost: 50 }
  })
}).pipe(Effect.scoped, Effect.provide(Logger.layer([])))

await Effect.runPromise(bench)
