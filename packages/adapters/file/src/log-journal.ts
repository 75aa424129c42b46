/**
 * The Journal port on files of its own: a log for the appends, a snapshot for what they came to.
 *
 *     snapshot-3   log-3 ─▶ log-4          a snapshot of generation 4 is being written, or failed
 *
 * 1. An append is answered after the `fdatasync` of its batch; the event loop runs meanwhile, and
 *    what comes meanwhile shares the next batch.
 * 2. A torn tail, which was never answered, is cut at the opening and counted; any other difference
 *    is `corrupt`, and so is a file that is missing.
 * 3. Appends go on while a snapshot is written; it counts when its name is durable.
 */
import { type Journal, JournalError, type JournalContents } from "@holdfast/storage"
import { Effect, Option, type Scope, Semaphore, Stream } from "effect"
import { statfsSync } from "node:fs"
import { type Disk, nodeDisk } from "./chunk-device-disk.ts"
import type { StoreOptions } from "./environment.ts"
import { splitFrames } from "./frames.ts"
import type { Batch } from "./log-batch.ts"
import {
  corruptLog,
  type LogFileKind,
  type LogPlace,
  removeReplaced,
  withLogFile
} from "./log-files.ts"
import { openLogs } from "./log-open.ts"
import { writeSnapshot } from "./log-snapshot.ts"
import { type LogWriter, openLogWriter, type WithRoom } from "./log-writer.ts"
import { FORMAT_VERSION } from "./store-identity.ts"
import { refusalOf, StoreRefused } from "./store-refused.ts"

/** The largest entry or snapshot part if nothing else is said. */
const ENTRY_BYTES_MAX = 16_777_216
/** Room on the disk that is kept free. */
const RESERVE_BYTES = 16_777_216
/** Bytes of batches that one step of a recovery reads. */
const STEP_BYTES = 1_048_576

/** Where a journal is and how large an entry may be. */
export interface FileJournalOptions extends StoreOptions {
  /** The largest entry or snapshot part; 16 MiB if absent. */
  readonly entryBytesMax?: number
  /** The file system under it; the real one if absent. */
  readonly disk?: Disk
}

/** The kind of store that a journal's directory is. */
export const JOURNAL_KIND = "journal-log"

interface OpenJournal {
  readonly place: LogPlace
  readonly writer: LogWriter
  readonly withRoom: WithRoom
  readonly entryBytesMax: number
  readonly compacting: Semaphore.Semaphore
  base: number
  cutEntries: number
}

/** The port's error for a refusal, or for what the file system threw. */
export const asJournalError = (cause: unknown, doing: string): JournalError => {
  const { code, message } = refusalOf(cause, doing)
  return new JournalError({ code: code === "foreign" ? "corrupt" : code, message })
}

/** Runs an act on a journal's files; what it throws becomes the port's error. */
export const attempt = <A>(
  directory: string,
  act: () => Promise<A>
): Effect.Effect<A, JournalError> =>
  Effect.tryPromise({
    try: act,
    catch: (cause) => asJournalError(cause, `The journal in ${directory}`)
  })

const roomCheck = (options: FileJournalOptions): WithRoom => {
  const { directory, reserveBytes = RESERVE_BYTES } = options
  const freeBytes =
    options.freeBytes ??
    (() => {
      const { bavail, bsize } = statfsSync(directory)
      return bavail * bsize
    })
  return async (bytes, write) => {
    if (bytes > freeBytes() - reserveBytes) {
      const message = `The journal in ${directory}: the disk has no room for ${bytes} bytes above its reserve; free some.`
      throw new StoreRefused({ code: "full", message })
    }
    return write()
  }
}

/** Where a recovery has come to in a file. */
interface Place {
  readonly position: number
  readonly number: number
}

/** A file, and how much of it counts. */
interface Part {
  readonly kind: LogFileKind
  readonly generation: number
  readonly end: number
}

/** The batches of a file in order, some at a time. */
const batchesOf = (journal: OpenJournal, file: Part): Stream.Stream<Batch, JournalError> => {
  const { place } = journal
  const name = `${file.kind}-${file.generation}`
  const read = (from: Place | undefined) =>
    withLogFile(place, file, async (reader, begin) => {
      if (journal.base > file.generation) {
        const message = `The journal in ${place.directory} was compacted while it was read; read again.`
        throw new StoreRefused({ code: "unavailable", message })
      }
      const start = from?.position ?? begin.position
      let { number, position } = from ?? { number: begin.first, position: start }
      const batches: Array<Batch> = []
      while (position - start < STEP_BYTES) {
        if (position >= file.end) return [batches, Option.none<Place>()] as const
        const found = await reader.at(position, number)
        if (found._tag === "Nothing") return [batches, Option.none<Place>()] as const
        if (found._tag !== "Whole") throw corruptLog(place, `${name} is damaged at ${position}`)
        const { kind, payload } = found.batch
        batches.push({ ...found.batch, payload: new Uint8Array(payload) })
        position = found.next
        number += 1
        if (kind === "end") return [batches, Option.none<Place>()] as const
      }
      return [batches, Option.some({ position, number })] as const
    })
  return Stream.paginate(undefined as Place | undefined, (from) =>
    attempt(place.directory, () => read(from))
  )
}

const snapshotOf = (journal: OpenJournal, generation: number) => {
  if (generation === 0) return Stream.empty
  let isEnded = false
  const parts = batchesOf(journal, { kind: "snapshot", generation, end: Infinity }).pipe(
    Stream.filter(({ kind }) => {
      if (kind === "end") isEnded = true
      return kind === "part"
    }),
    Stream.map(({ payload }) => payload)
  )
  const check = Effect.suspend(() =>
    isEnded
      ? Effect.void
      : attempt(journal.place.directory, () =>
          Promise.reject(corruptLog(journal.place, `snapshot-${generation} has lost its end`))
        )
  )
  return Stream.concat(parts, Stream.drain(Stream.fromEffect(check)))
}

const recover = (journal: OpenJournal): Effect.Effect<JournalContents> =>
  Effect.sync(() => {
    const { base, cutEntries, writer } = journal
    const newest = writer.end()
    const logs = [...writer.sizes.keys()].map((generation): Part => ({
      kind: "log",
      generation,
      end: generation === newest.generation ? newest.position : Infinity
    }))
    const entries = Stream.fromIterable(logs).pipe(
      Stream.flatMap((log) => batchesOf(journal, log)),
      Stream.filter(({ kind }) => kind === "entries"),
      Stream.flatMap(({ payload }) => Stream.fromArray(splitFrames(payload)))
    )
    return { snapshot: snapshotOf(journal, base), entries, cutEntries }
  })

const checkLength = (journal: OpenJournal, part: Uint8Array): void => {
  if (part.length <= journal.entryBytesMax) return
  const message = `An entry of ${part.length} bytes is over the limit of ${journal.entryBytesMax}.`
  throw new StoreRefused({ code: "too-large", message })
}

const append = async (journal: OpenJournal, entries: ReadonlyArray<Uint8Array>): Promise<void> => {
  if (entries.length === 0) return
  for (const entry of entries) checkLength(journal, entry)
  await journal.writer.append(entries)
}

const compact = async (journal: OpenJournal, parts: Iterable<Uint8Array>): Promise<void> => {
  const { place, withRoom, writer } = journal
  const generation = await writer.rotate()
  const checked = function* () {
    for (const part of parts) {
      checkLength(journal, part)
      yield part
    }
  }
  await writeSnapshot(place, generation, { [Symbol.iterator]: checked }, withRoom)
  journal.base = generation
  for (const old of writer.sizes.keys()) {
    if (old < generation) writer.sizes.delete(old)
  }
  await removeReplaced(place, generation)
}

const totalSize = ({ writer }: OpenJournal) => {
  let entries = 0
  let bytes = 0
  for (const size of writer.sizes.values()) {
    entries += size.entries
    bytes += size.bytes
  }
  return { entries, bytes }
}

/** Opens a journal's files in a directory that this process holds already. */
export const openLogJournal = Effect.fnUntraced(function* (
  options: FileJournalOptions & { readonly mustExist: boolean }
): Effect.fn.Return<Journal["Service"], JournalError, Scope.Scope> {
  const { clusterId = "", directory, disk = nodeDisk, mustExist } = options
  const identity = { formatVersion: FORMAT_VERSION, kind: JOURNAL_KIND, clusterId }
  const place = { disk, directory, identity }
  const withRoom = roomCheck(options)
  const { opened, writer } = yield* Effect.acquireRelease(
    attempt(directory, async () => {
      const found = await openLogs(place, { mustExist })
      return { opened: found, writer: await openLogWriter(place, found, withRoom) }
    }),
    ({ writer: closing }) => Effect.promise(() => closing.close())
  )
  const journal: OpenJournal = {
    place,
    writer,
    withRoom,
    entryBytesMax: options.entryBytesMax ?? ENTRY_BYTES_MAX,
    compacting: yield* Semaphore.make(1),
    base: opened.base,
    cutEntries: opened.cutEntries
  }
  return {
    recover: recover(journal),
    append: (entries) => Effect.uninterruptible(attempt(directory, () => append(journal, entries))),
    compact: (parts) =>
      attempt(directory, () => compact(journal, parts)).pipe(
        Effect.uninterruptible,
        journal.compacting.withPermits(1)
      ),
    size: Effect.sync(() => totalSize(journal))
  }
})
