/**
 * Speed of the metadata service over memory messaging and a journal on disk.
 *
 *   node --conditions=@holdfast/source packages/services/metadata/src/metadata.bench.ts [chunks]
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileJournal } from "@holdfast/adapter-file"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { Journal } from "@holdfast/storage"
import { figuresOf } from "@holdfast/suites/figures"
import { MetadataOperations } from "@holdfast/wire"
import { Effect, Layer } from "effect"
import { startMetadataService } from "./index.ts"
import { copyOf, seedChunks } from "./testing/known-chunks.ts"
import { ask, makePuppet, quickOptions, ready, write, type Puppet } from "./testing/world.ts"

const say = figuresOf("metadata service")
const reported = Number(process.argv[2] ?? 200_000)
const commits = 5_000
const inFlight = 64

const options = {
  ...quickOptions,
  map: { ...quickOptions.map, staleAfterMs: 1e9, deadAfterMs: 1e9, safeModeThreshold: 0 },
  service: { tickMs: 200, invariantsMs: 1e9 }
}

/** Appends of 64 small records one after another: what the disk allows. */
const baseline = Effect.gen(function* () {
  const journal = yield* Journal
  const records = Array.from({ length: inFlight }, () => new Uint8Array(60))
  const appends = 100
  const start = performance.now()
  for (let index = 0; index < appends; index++) yield* journal.append(records)
  return (appends * inFlight) / ((performance.now() - start) / 1000)
})

const measureCommits = Effect.fnUntraced(function* (puppets: ReadonlyArray<Puppet>) {
  const { fileId } = yield* ask(MetadataOperations.createFile, {})
  const start = performance.now()
  const used = process.cpuUsage()
  yield* Effect.forEach(
    Array.from({ length: commits }, (_one, index) => index),
    () => write(puppets, fileId),
    { concurrency: inFlight, discard: true }
  )
  const { user, system } = process.cpuUsage(used)
  const rate = commits / ((performance.now() - start) / 1000)
  return { rate, microseconds: (user + system) / commits }
})

/** Heartbeats of one device while another one reports everything it holds. */
const measureHeartbeats = Effect.fnUntraced(function* (puppet: Puppet) {
  const big = makePuppet("big")
  for (let index = 0; index < reported; index++) {
    big.copies.set(String(index), copyOf(index))
  }
  const start = performance.now()
  const reporting = yield* Effect.forkChild(big.join(10_000), { startImmediately: true })
  const waits: Array<number> = []
  while (reporting.pollUnsafe() === undefined) {
    const sent = performance.now()
    yield* puppet.beat()
    waits.push(performance.now() - sent)
    yield* Effect.sleep(5)
  }
  waits.sort((left, right) => left - right)
  const p99 = waits[Math.floor(waits.length * 0.99)] ?? 0
  return { seconds: (performance.now() - start) / 1000, p99, longest: waits.at(-1) ?? 0 }
})

const bench = Effect.gen(function* () {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-metadata-bench-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true })))
  const network = yield* MemoryNetwork.make()
  const disk = yield* Effect.provide(baseline, fileJournal({ directory: join(directory, "base") }))
  yield* Effect.provide(
    seedChunks(reported),
    fileJournal({ directory: join(directory, "journal") })
  )
  const started = performance.now()
  const ports = yield* Layer.build(
    Layer.merge(
      MemoryNetwork.layer(network, "metadata"),
      fileJournal({ directory: join(directory, "journal") })
    )
  )
  yield* Effect.provideContext(startMetadataService(options), ports)
  const restart = performance.now() - started
  const client = yield* Layer.build(MemoryNetwork.layer(network, "client"))
  const puppets = ["a", "b", "c"].map(makePuppet)
  yield* Effect.gen(function* () {
    for (const puppet of puppets) yield* puppet.join()
    yield* ready
    const held = `${reported.toLocaleString("en-US")} chunks`
    say({ what: `start with ${held}`, value: restart, unit: "ms" })
    const { rate, microseconds } = yield* measureCommits(puppets)
    say({
      what: "commits, alloc and publish",
      value: rate,
      unit: "a second",
      bar: { atLeast: 10_000 }
    })
    say({ what: `  against bare appends of ${inFlight}`, value: rate / disk, unit: "times" })
    say({ what: "commit, both sides and their client", value: microseconds, unit: "µs of CPU" })
    const { seconds, p99, longest } = yield* measureHeartbeats(puppets[0]!)
    say({ what: `report of ${held}`, value: seconds, unit: "s" })
    say({ what: "  heartbeat meanwhile, p99", value: p99, unit: "ms", bar: { atMost: 50 } })
    say({ what: "  heartbeat meanwhile, longest", value: longest, unit: "ms", bar: { atMost: 50 } })
  }).pipe(Effect.provideContext(client))
}).pipe(Effect.scoped)

await Effect.runPromise(bench)
