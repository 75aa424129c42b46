/**
 * The Journal port on LMDB.
 *
 *     head        generation 3 of 40 parts, first append 118
 *     snapshot    3/0 3/1 3/2 ...            parts of generation 3
 *     appends     118 119 120 ...            one value for each append: its entries, framed
 *
 * 1. An append is one value of one transaction, so it is there entirely or not at all, and there is
 *    no torn tail to cut: `cutEntries` is always 0; a wrong checksum or a number that is missing
 *    is `corrupt`.
 * 2. A snapshot is written under the next generation in slices, between which appends go on; the
 *    transaction that names the generation in the head makes it count. A crash before that leaves
 *    the old snapshot and every append.
 * 3. What the head no longer names is removed in slices after that, and at the next opening.
 */
import { Journal, JournalError } from "@holdfast/storage"
import type { JournalContents } from "@holdfast/storage"
import { Effect, Layer, Option, Stream } from "effect"
import { keyAfter, numberKey, numberOfKey } from "./byte-keys.ts"
import type { Table } from "./environment.ts"
import { joinFrames, splitFrames } from "./frames.ts"
import {
  corruptJournal,
  openJournal,
  readNextAppend,
  removeForgotten,
  writeHead,
  writeNextAppend
} from "./open-journal.ts"
import type { LmdbJournalOptions, OpenJournal } from "./open-journal.ts"
import { openValue, sealValue } from "./sealed-value.ts"
import { StoreRefused } from "./store-refused.ts"

/** Bytes of a snapshot that one transaction writes. */
const SLICE_BYTES = 4_194_304
/** Bytes that a key and its place in a page cost about. */
const ITEM_BYTES = 64
/** Values read at a time. */
const READ_VALUES = 64

const asJournalError = ({ code, message }: StoreRefused): JournalError =>
  new JournalError({ code: code === "foreign" ? "corrupt" : code, message })

/** Reads a range in order, some values at a time; a snapshot that comes between is a refusal. */
const readRange = (
  journal: OpenJournal,
  table: Table,
  range: { readonly start: Buffer; readonly end: Buffer }
): Stream.Stream<{ readonly key: Buffer; readonly value: Buffer }, StoreRefused> => {
  const { environment, head } = journal
  const isReplaced = new StoreRefused({
    code: "unavailable",
    message: `The journal in ${environment.directory} was compacted while it was read; read again.`
  })
  return Stream.paginate(range.start, (start) =>
    Effect.map(
      environment.read(() => {
        if (journal.head !== head) throw isReplaced
        return [...table.getRange({ start, end: range.end, limit: READ_VALUES })]
      }),
      (found) => {
        const last = found.at(-1)
        const next = last === undefined ? Option.none<Buffer>() : Option.some(keyAfter(last.key))
        return [found, next] as const
      }
    )
  )
}

const openOrRefuse = (journal: OpenJournal, what: string, key: Buffer, sealed: Buffer) => {
  const value = openValue(key, sealed)
  if (value === undefined) {
    throw corruptJournal(journal.environment, `${what} ${numberOfKey(key)}`)
  }
  return value
}

const recover = Effect.fnUntraced(function* (
  journal: OpenJournal
): Effect.fn.Return<JournalContents, StoreRefused> {
  const { appends, environment, head, snapshots } = journal
  const generation = { start: numberKey(head.generation), end: numberKey(head.generation + 1n) }
  const next = yield* environment.read(() => readNextAppend(journal))
  const since = { start: numberKey(head.firstAppend), end: numberKey(next) }
  const missing = yield* environment.read(() => ({
    parts: head.parts - BigInt(snapshots.getKeysCount(generation)),
    appends: next - head.firstAppend - BigInt(appends.getKeysCount(since))
  }))
  if (missing.parts !== 0n || missing.appends !== 0n) {
    const message = `The journal in ${environment.directory} misses ${missing.parts} parts of its snapshot and ${missing.appends} appends.`
    return yield* new StoreRefused({ code: "corrupt", message })
  }
  const snapshot = readRange(journal, snapshots, generation).pipe(
    Stream.mapEffect(({ key, value }) =>
      environment.read(() => new Uint8Array(openOrRefuse(journal, "snapshot part", key, value)))
    )
  )
  const entries = readRange(journal, appends, since).pipe(
    Stream.mapEffect(({ key, value }) =>
      environment.read(() => splitFrames(openOrRefuse(journal, "append", key, value)))
    ),
    Stream.flatMap(Stream.fromArray)
  )
  return {
    snapshot: Stream.mapError(snapshot, asJournalError),
    entries: Stream.mapError(entries, asJournalError),
    cutEntries: 0
  }
})

const checkLength = (journal: OpenJournal, part: Uint8Array): Effect.Effect<void, StoreRefused> => {
  if (part.length <= journal.entryBytesMax) return Effect.void
  const message = `An entry of ${part.length} bytes is over the limit of ${journal.entryBytesMax}.`
  return Effect.fail(new StoreRefused({ code: "too-large", message }))
}

const append = Effect.fnUntraced(function* (
  journal: OpenJournal,
  entries: ReadonlyArray<Uint8Array>
): Effect.fn.Return<void, StoreRefused> {
  if (entries.length === 0) return
  for (const entry of entries) yield* checkLength(journal, entry)
  const joined = joinFrames(entries)
  const number = yield* journal.environment.commit({
    bytes: joined.length + ITEM_BYTES,
    run: () => {
      const next = readNextAppend(journal)
      const key = numberKey(next)
      journal.appends.putSync(key, sealValue(key, joined))
      writeNextAppend(journal, next + 1n)
      return next
    }
  })
  const bytes = joined.length - 4 * entries.length
  journal.sizes.set(number, { entries: entries.length, bytes })
})

/** Writes the parts of a generation in slices; answers their number when all are durable. */
const writeParts = Effect.fnUntraced(function* (
  journal: OpenJournal,
  generation: bigint,
  parts: Iterable<Uint8Array>
) {
  let slice: Array<readonly [key: Buffer, sealed: Buffer]> = []
  let sliceBytes = 0
  let count = 0n
  const writeSlice = Effect.suspend(() => {
    const written = slice
    const bytes = sliceBytes
    slice = []
    sliceBytes = 0
    return journal.environment.commit({
      bytes,
      run: () => {
        for (const [key, sealed] of written) journal.snapshots.putSync(key, sealed)
      }
    })
  })
  for (const part of parts) {
    yield* checkLength(journal, part)
    const key = Buffer.concat([numberKey(generation), numberKey(count)])
    slice.push([key, sealValue(key, part)])
    sliceBytes += part.length + ITEM_BYTES
    count += 1n
    if (sliceBytes >= SLICE_BYTES) yield* writeSlice
  }
  yield* writeSlice
  return count
})

const compact = Effect.fnUntraced(function* (
  journal: OpenJournal,
  parts: Iterable<Uint8Array>
): Effect.fn.Return<void, StoreRefused> {
  const { environment, heads } = journal
  // Appends that were committed before this are in the snapshot; those that come later are not.
  const firstAppend = yield* environment.commit({ bytes: 0, run: () => readNextAppend(journal) })
  const generation = journal.head.generation + 1n
  const write = Effect.gen(function* () {
    const count = yield* writeParts(journal, generation, parts)
    const head = { generation, parts: count, firstAppend }
    yield* environment.commit({ bytes: ITEM_BYTES, run: () => writeHead(heads, head) })
    journal.head = head
  })
  yield* Effect.tapError(write, () => Effect.ignore(removeForgotten(journal)))
  for (const number of journal.sizes.keys()) {
    if (number < firstAppend) journal.sizes.delete(number)
  }
  yield* removeForgotten(journal)
})

const totalSize = ({ sizes }: OpenJournal) => {
  let entries = 0
  let bytes = 0
  for (const size of sizes.values()) {
    entries += size.entries
    bytes += size.bytes
  }
  return { entries, bytes }
}

const service = (journal: OpenJournal): Journal["Service"] => ({
  recover: Effect.mapError(recover(journal), asJournalError),
  append: (entries) =>
    append(journal, entries).pipe(Effect.mapError(asJournalError), Effect.uninterruptible),
  compact: (parts) =>
    compact(journal, parts).pipe(
      Effect.mapError(asJournalError),
      Effect.uninterruptible,
      journal.compacting.withPermits(1)
    ),
  size: Effect.sync(() => totalSize(journal))
})

/** A Journal in a directory, held by this process until the scope closes. */
export const lmdbJournal = (options: LmdbJournalOptions): Layer.Layer<Journal, JournalError> =>
  Layer.effect(Journal, Effect.map(Effect.mapError(openJournal(options), asJournalError), service))
