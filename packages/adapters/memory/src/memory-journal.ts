/**
 * The Journal port on a memory disk: a cell for each append, a cell for each snapshot part.
 *
 *     a/0000000000000007  the eighth append: its entries, framed
 *     s/0000000000000000  the first part of the snapshot
 *
 * A broken cell at the end of the appends is a torn tail and is cut; anywhere else it is damage.
 */
import { Journal, type JournalContents, JournalError } from "@holdfast/storage"
import { Effect, Layer, Stream } from "effect"
import { type CellWrite, isIntact, numberKey, sortedKeys } from "./cells.ts"
import { countFrames, joinFrames, splitFrames } from "./frames.ts"
import type { DiskRefusal, FileHold, MemoryDisk } from "./memory-disk.ts"

/** Where a journal stands and how large an entry may be. */
export interface MemoryJournalOptions {
  /** The file's name on the disk; `journal` when absent. */
  readonly file?: string
  /** The largest entry; 16 MiB when absent. */
  readonly entryBytesMax?: number
}

const asJournalError = ({ code, message }: DiskRefusal): JournalError =>
  new JournalError({ code, message })

/** What one append holds. */
interface AppendSize {
  readonly entries: number
  readonly bytes: number
}

/** An open journal: its file, the number of its next append, and the appends since a snapshot. */
interface OpenJournal {
  readonly hold: FileHold
  readonly entryBytesMax: number
  readonly cutEntries: number
  /** By cell key, those on their way to the disk included. */
  readonly appends: Map<string, AppendSize>
  /** The sum of them. */
  readonly total: { entries: number; bytes: number }
  next: number
}

const sizeOf = (entries: ReadonlyArray<Uint8Array>): AppendSize => ({
  entries: entries.length,
  bytes: entries.reduce((sum, entry) => sum + entry.length, 0)
})

const addAppend = (journal: OpenJournal, key: string, size: AppendSize): void => {
  journal.appends.set(key, size)
  journal.total.entries += size.entries
  journal.total.bytes += size.bytes
}

const removeAppend = (journal: OpenJournal, key: string): void => {
  const size = journal.appends.get(key)
  if (size === undefined) return
  journal.appends.delete(key)
  journal.total.entries -= size.entries
  journal.total.bytes -= size.bytes
}

/** Opens the file, cuts a torn tail and counts what is left. */
const openJournal = Effect.fnUntraced(function* (disk: MemoryDisk, options: MemoryJournalOptions) {
  const hold = yield* disk.hold(options.file ?? "journal")
  yield* hold.readable
  const keys = sortedKeys(hold.cells, "a/")
  const last = keys.at(-1)
  const lastCell = last === undefined ? undefined : hold.cells.get(last)
  const isTorn = lastCell !== undefined && !isIntact(lastCell)
  if (last !== undefined && isTorn) yield* hold.write([[last, undefined]])
  const journal: OpenJournal = {
    hold,
    entryBytesMax: options.entryBytesMax ?? 16_777_216,
    cutEntries: isTorn ? Math.max(1, countFrames(lastCell.bytes)) : 0,
    appends: new Map(),
    total: { entries: 0, bytes: 0 },
    next: last === undefined ? 0 : Number(last.slice(2)) + 1
  }
  for (const key of sortedKeys(hold.cells, "a/")) {
    const cell = hold.cells.get(key)
    const entries = cell !== undefined && isIntact(cell) ? splitFrames(cell.bytes) : []
    addAppend(journal, key, sizeOf(entries))
  }
  return journal
})

const readCell = ({ cells }: FileHold, key: string): Effect.Effect<Uint8Array, JournalError> => {
  const cell = cells.get(key)
  return cell !== undefined && isIntact(cell)
    ? Effect.succeed(cell.bytes.slice())
    : Effect.fail(new JournalError({ code: "corrupt", message: `the checksum of ${key} is wrong` }))
}

const recover = ({ hold, cutEntries }: OpenJournal): Effect.Effect<JournalContents, JournalError> =>
  Effect.map(Effect.mapError(hold.readable, asJournalError), () => {
    const read = (prefix: string) =>
      Stream.fromArray(sortedKeys(hold.cells, prefix)).pipe(
        Stream.mapEffect((key) => readCell(hold, key))
      )
    return {
      snapshot: read("s/"),
      entries: Stream.flatMap(read("a/"), (group) => Stream.fromArray(splitFrames(group))),
      cutEntries
    }
  })

const tooLarge = (journal: OpenJournal, parts: ReadonlyArray<Uint8Array>) => {
  const large = parts.find((part) => part.length > journal.entryBytesMax)
  if (large === undefined) return Effect.void
  const message = `${large.length} bytes is over the limit of ${journal.entryBytesMax} an entry`
  return Effect.fail(new JournalError({ code: "too-large", message }))
}

const append = (journal: OpenJournal): Journal["Service"]["append"] =>
  Effect.fnUntraced(function* (entries) {
    yield* tooLarge(journal, entries)
    if (entries.length === 0) return
    const key = `a/${numberKey(journal.next)}`
    journal.next += 1
    addAppend(journal, key, sizeOf(entries))
    yield* journal.hold.write([[key, joinFrames(entries)]]).pipe(
      Effect.tapError(() => Effect.sync(() => removeAppend(journal, key))),
      Effect.mapError(asJournalError)
    )
  })

const compact = (journal: OpenJournal): Journal["Service"]["compact"] =>
  Effect.fnUntraced(function* (parts) {
    const snapshot = Array.from(parts)
    yield* tooLarge(journal, snapshot)
    const replaced = [...journal.appends.keys()]
    const writes = new Map<string, Uint8Array | undefined>()
    for (const key of sortedKeys(journal.hold.cells, "s/")) writes.set(key, undefined)
    for (const key of replaced) writes.set(key, undefined)
    for (const [index, part] of snapshot.entries()) writes.set(`s/${numberKey(index)}`, part)
    const changes: ReadonlyArray<CellWrite> = [...writes]
    yield* Effect.mapError(journal.hold.write(changes), asJournalError)
    for (const key of replaced) removeAppend(journal, key)
  })

/** A Journal on a disk; opening it a second time at once is `locked`. */
export const memoryJournal = (
  disk: MemoryDisk,
  options: MemoryJournalOptions = {}
): Layer.Layer<Journal, JournalError> =>
  Layer.effect(
    Journal,
    Effect.map(Effect.mapError(openJournal(disk, options), asJournalError), (journal) => ({
      recover: recover(journal),
      append: append(journal),
      compact: compact(journal),
      size: Effect.sync(() => ({ ...journal.total }))
    }))
  )
