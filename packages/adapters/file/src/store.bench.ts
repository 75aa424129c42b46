/** What the stores on LMDB reach, beside a file that is written and synced for each entry. */
import { Journal, PartitionStore } from "@holdfast/storage"
import type { PartitionWrite } from "@holdfast/storage"
import { type Figure, figuresOf } from "@holdfast/suites/figures"
import { Context, Duration, Effect, Layer, Option } from "effect"
import { randomBytes } from "node:crypto"
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileJournal, filePartitionStore } from "./index.ts"

const say = figuresOf("stores on LMDB")
const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-"))
const INDEX_RECORDS = 200_000
const ENTRY = new Uint8Array(256)

const perSecond = (count: number, effect: Effect.Effect<unknown, unknown>) =>
  Effect.map(Effect.timed(effect), ([duration]) => (count * 1_000) / Duration.toMillis(duration))

const syncedWrites = (count: number): number => {
  const file = openSync(join(directory, "baseline"), "w")
  const start = performance.now()
  for (let written = 0; written < count; written++) {
    writeSync(file, ENTRY)
    fdatasyncSync(file)
  }
  closeSync(file)
  return (count * 1_000) / (performance.now() - start)
}

/** Says a rate, and its ratio to the rate of synced writes. */
const sayRate = (rate: Omit<Figure, "unit">, baseline: number): void => {
  say({ ...rate, unit: "a second" })
  say({
    what: `  per synced write: ${rate.what}`,
    value: rate.value / baseline,
    unit: "times"
  })
}

const key = () => randomBytes(32).toString("hex")
const partition = (tag: string): PartitionWrite => ({
  application: "archive",
  key: key(),
  state: Option.some(ENTRY),
  tags: [Buffer.from(tag)]
})

const benchJournal = Effect.fnUntraced(function* (baseline: number) {
  const options = { directory: join(directory, "journal") }
  const journal = Context.get(yield* Layer.build(fileJournal(options)), Journal)
  const append = journal.append([ENTRY])
  for (const [inFlight, count] of [
    [1, 500],
    [64, 20_000],
    [1_000, 100_000]
  ] as const) {
    const all = Effect.forEach(Array.from({ length: count }), () => append, {
      concurrency: inFlight,
      discard: true
    })
    const value = yield* perSecond(count, all)
    sayRate(
      { what: `journal append, ${inFlight.toLocaleString("en-US")} in flight`, value },
      baseline
    )
  }
})

const benchPartitions = Effect.fnUntraced(function* (baseline: number) {
  const options = { directory: join(directory, "partitions") }
  const store = Context.get(yield* Layer.build(filePartitionStore(options)), PartitionStore)
  const batches = Array.from({ length: INDEX_RECORDS / 1_000 }, (_, batch) =>
    Array.from({ length: 1_000 }, (__, index) => partition(`stream/${batch % 7}/${index % 50}`))
  )
  const fill = Effect.forEach(batches, (partitions) => store.commit({ partitions, facts: [] }), {
    discard: true
  })
  const inserted = yield* perSecond(INDEX_RECORDS, fill)
  const bar = { atLeast: 50_000 }
  sayRate({ what: "partition with one tag, 1,000 a commit", value: inserted, bar }, baseline)
  const probes = batches.flat().slice(0, 20_000)
  const next = (write: PartitionWrite) =>
    store.page({
      application: "archive",
      after: Option.some({ tag: write.tags[0] ?? ENTRY, key: write.key }),
      upTo: Option.none(),
      ranges: [["0".repeat(64), "f".repeat(64)]],
      limit: 1
    })
  const found = yield* perSecond(probes.length, Effect.forEach(probes, next, { discard: true }))
  const records = INDEX_RECORDS.toLocaleString("en-US")
  sayRate({ what: `next index record of ${records}`, value: found, bar }, baseline)
  const load = Effect.forEach(probes, (write) => store.load(write), { discard: true })
  const loaded = yield* perSecond(probes.length, load)
  sayRate({ what: "load of a partition", value: loaded }, baseline)
})

const baseline = syncedWrites(500)
say({ what: "write and fdatasync", value: baseline, unit: "a second" })
await Effect.runPromise(
  Effect.scoped(Effect.andThen(benchJournal(baseline), benchPartitions(baseline)))
)
rmSync(directory, { recursive: true })
