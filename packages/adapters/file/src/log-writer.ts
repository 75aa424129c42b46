/**
 * Group commit of a log, off the event loop: what comes while one write is synced is written
 * together in the next.
 *
 *     append ─┐
 *     append ─┼─▶ queue ─▶ one batch: one write, one fdatasync ─▶ every append is answered
 *     append ─┘
 *
 * 1. An append is answered after the sync of its batch, or refused with nothing left of it.
 * 2. After a write or a sync that failed, the log is cut to what was synced before anything is
 *    written again; while that fails, all is refused.
 * 3. Only one write is under way, so only the newest batch can be torn.
 */
import type { DiskFile } from "./chunk-device-disk.ts"
import { joinFrames } from "./frames.ts"
import { encodeBatch } from "./log-batch.ts"
import { createLog, logPath, type LogPlace } from "./log-files.ts"
import type { LogSize, OpenedLogs } from "./log-open.ts"
import { StoreRefused } from "./store-refused.ts"

/** Bytes after which a batch takes no further append. */
const BATCH_BYTES = 16_777_216

/** Runs a write after it was found that there is room; a failure of either is a refusal. */
export type WithRoom = <A>(bytes: number, write: () => Promise<A>) => Promise<A>

interface Append {
  readonly entries: ReadonlyArray<Uint8Array>
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

/** The one writer of a journal's logs. */
export interface LogWriter {
  /** Ends when the entries are durable. */
  readonly append: (entries: ReadonlyArray<Uint8Array>) => Promise<void>
  /** Begins the next log behind all that was appended before; answers its generation. */
  readonly rotate: () => Promise<number>
  /** What each log since the snapshot holds. */
  readonly sizes: Map<number, LogSize>
  /** The log that is written, and how much of it is durable. */
  readonly end: () => { readonly generation: number; readonly position: number }
  /** Writes what waits, refuses what comes later, and closes the file. */
  readonly close: () => Promise<void>
}

const sizeOf = (entries: ReadonlyArray<Uint8Array>): number =>
  entries.reduce((sum, entry) => sum + entry.length, 0)

/** Goes on writing where an opening has left off. */
export const openLogWriter = async (
  place: LogPlace,
  opened: OpenedLogs,
  withRoom: WithRoom
): Promise<LogWriter> => {
  const { disk } = place
  const sizes = new Map(opened.sizes)
  const waiting: Array<Append> = []
  let { generation, next, position } = opened
  let file: DiskFile = await disk.openToWrite(logPath(place, "log", generation))
  let isSound = true
  let isClosed = false
  /** The write under way, or the last one; every next one is chained to it. */
  let turns: Promise<void> = Promise.resolve()

  const inTurn = <A>(act: () => Promise<A>): Promise<A> => {
    const turn = turns.then(act)
    turns = turn.then(
      () => undefined,
      () => undefined
    )
    return turn
  }

  /** Writes one batch at the log's end, durably. */
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (!isSound) {
      await file.truncate(position)
      await file.sync()
    }
    isSound = false
    await file.write(bytes, position)
    await file.syncData()
    isSound = true
    position += bytes.length
    next += 1
  }

  const takeBatch = (): ReadonlyArray<Append> => {
    let bytes = 0
    const end = waiting.findIndex((append, index) => {
      bytes += append.bytes
      return index > 0 && bytes > BATCH_BYTES
    })
    return waiting.splice(0, end < 0 ? waiting.length : end)
  }

  const writeWaiting = async (): Promise<void> => {
    const appends = takeBatch()
    if (appends.length === 0) return
    const entries = appends.flatMap((append) => append.entries)
    try {
      const bytes = encodeBatch("entries", next, [joinFrames(entries)])
      await withRoom(bytes.length, () => write(bytes))
    } catch (cause) {
      for (const append of appends) append.reject(cause)
      return
    }
    const before = sizes.get(generation) ?? { entries: 0, bytes: 0 }
    sizes.set(generation, {
      entries: before.entries + entries.length,
      bytes: before.bytes + sizeOf(entries)
    })
    for (const append of appends) append.resolve()
  }

  const beginNext = async (): Promise<number> => {
    const begun = generation + 1
    const start = await createLog(place, { generation: begun, first: next + 1 })
    const opening = await disk.openToWrite(logPath(place, "log", begun))
    try {
      await write(encodeBatch("end", next, []))
    } catch (cause) {
      await opening.close()
      throw cause
    }
    const ended = file
    file = opening
    generation = begun
    position = start
    sizes.set(begun, { entries: 0, bytes: 0 })
    await ended.close()
    return begun
  }

  const refuseClosed = () =>
    new StoreRefused({
      code: "unavailable",
      message: `The journal in ${place.directory} is closed.`
    })

  return {
    append: (entries) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(refuseClosed())
        waiting.push({ entries, bytes: sizeOf(entries), resolve, reject })
        void inTurn(writeWaiting)
      }),
    rotate: () => (isClosed ? Promise.reject(refuseClosed()) : inTurn(beginNext)),
    sizes,
    end: () => ({ generation, position }),
    close: () => {
      isClosed = true
      return inTurn(() => file.close())
    }
  }
}
