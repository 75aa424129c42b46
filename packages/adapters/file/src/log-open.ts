/**
 * What an opening makes of a journal's files: the newest snapshot and every log since, one after
 * another without a hole, and a torn tail cut.
 *
 * 1. Damage is refused, and so is a log or a snapshot that is missing.
 * 2. Only the newest log may end in a torn batch; it is cut and counted, durably, before anything
 *    is appended.
 * 3. A log that was begun while its predecessor had not ended holds nothing, and is removed.
 */
import { removeIfThere } from "./durable-file.ts"
import {
  corruptLog,
  createLog,
  generationsOf,
  logPath,
  type LogPlace,
  removeReplaced,
  withLogFile
} from "./log-files.ts"
import { countFrames } from "./frames.ts"

/** How much a log holds. */
export interface LogSize {
  readonly entries: number
  readonly bytes: number
}

/** What was found. */
export interface OpenedLogs {
  /** The snapshot's generation; 0 where there is none. */
  readonly base: number
  /** The logs from the base on, by their generations. */
  readonly sizes: ReadonlyMap<number, LogSize>
  /** The log to append to. */
  readonly generation: number
  /** Where its next batch goes, and that batch's number. */
  readonly position: number
  readonly next: number
  readonly cutEntries: number
}

interface Scanned {
  readonly first: number
  readonly next: number
  readonly position: number
  readonly size: LogSize
  readonly tail: "open" | "ended" | "torn"
}

const scan = (place: LogPlace, generation: number): Promise<Scanned> =>
  withLogFile(place, { kind: "log", generation }, async (reader, { first, position: start }) => {
    let position = start
    let next = first
    let entries = 0
    let bytes = 0
    for (;;) {
      const found = await reader.at(position, next)
      const size = { entries, bytes }
      switch (found._tag) {
        case "Nothing":
          return { first, next, position, size, tail: "open" }
        case "Torn":
          return { first, next, position, size, tail: "torn" }
        case "Damaged":
          throw corruptLog(place, `log-${generation} is damaged at byte ${position}`)
        case "Whole": {
          const { kind, payload } = found.batch
          if (kind === "end" && found.next === reader.size) {
            return { first, next: next + 1, position: found.next, size, tail: "ended" }
          }
          if (kind !== "entries") {
            throw corruptLog(place, `log-${generation} has a ${kind} at byte ${position}`)
          }
          const count = countFrames(payload)
          entries += count
          bytes += payload.length - 4 * count
          position = found.next
          next += 1
        }
      }
    }
  })

/** Cuts a torn tail, durably. */
const cut = async (place: LogPlace, generation: number, position: number): Promise<void> => {
  const file = await place.disk.openToWrite(logPath(place, "log", generation))
  try {
    await file.truncate(position)
    await file.sync()
  } finally {
    await file.close()
  }
}

const removeDrafts = async (place: LogPlace, names: ReadonlyArray<string>): Promise<void> => {
  for (const name of names) {
    if (/^(log|snapshot)-\d+\.draft$/.test(name)) {
      await removeIfThere(place.disk, `${place.directory}/${name}`)
    }
  }
}

const begin = async (place: LogPlace): Promise<OpenedLogs> => {
  const position = await createLog(place, { generation: 0, first: 1 })
  const sizes = new Map([[0, { entries: 0, bytes: 0 }]])
  return { base: 0, sizes, generation: 0, position, next: 1, cutEntries: 0 }
}

/** The logs from the snapshot on; a directory that should hold some and holds none is refused. */
const chainOf = (place: LogPlace, base: number, logs: ReadonlyArray<number>) => {
  const chain = logs.filter((generation) => generation >= base)
  const missing = chain.findIndex((generation, index) => generation !== base + index)
  if (chain.length === 0 || missing >= 0) {
    throw corruptLog(place, `log-${base + Math.max(0, missing)} is missing`)
  }
  return chain
}

/** Opens what is there, or begins a journal in an empty directory unless there must be one. */
export const openLogs = async (
  place: LogPlace,
  options: { readonly mustExist: boolean }
): Promise<OpenedLogs> => {
  const names = await place.disk.names(place.directory)
  await removeDrafts(place, names)
  const logs = generationsOf(names, "log")
  const base = generationsOf(names, "snapshot").at(-1) ?? 0
  if (logs.length === 0 && base === 0) {
    if (options.mustExist) throw corruptLog(place, "all of its files are gone")
    return begin(place)
  }
  const chain = chainOf(place, base, logs)
  const sizes = new Map<number, LogSize>()
  let last: Scanned | undefined
  let current = base
  for (const generation of chain) {
    const scanned = await scan(place, generation)
    if (last !== undefined && last.tail !== "ended") {
      const isNewest = generation === chain.at(-1)
      if (!isNewest || scanned.size.entries > 0 || scanned.tail !== "open") {
        throw corruptLog(place, `log-${generation - 1} has lost its end`)
      }
      await removeIfThere(place.disk, logPath(place, "log", generation))
      break
    }
    if (last !== undefined && scanned.first !== last.next) {
      throw corruptLog(place, `log-${generation} does not go on where log-${current} ends`)
    }
    sizes.set(generation, scanned.size)
    current = generation
    last = scanned
  }
  if (last === undefined || last.tail === "ended") {
    throw corruptLog(place, `log-${current + 1} is missing`)
  }
  const { next, position, tail } = last
  if (tail === "torn") await cut(place, current, position)
  await place.disk.syncDirectory(place.directory)
  await removeReplaced(place, base)
  return { base, sizes, generation: current, position, next, cutEntries: tail === "torn" ? 1 : 0 }
}
