/**
 * The files of a journal in a directory.
 *
 *     log-<g>         the appends since snapshot g was begun; ends with an `end` batch where log g+1
 *                     goes on
 *     snapshot-<g>    replaces every log before log g; written aside and named when it is whole
 *     *.draft         what a crash left of either; removed at the next opening
 *
 * Each begins with a `head` that says whose it is, which generation, and the number of its first
 * batch. Batches are numbered through all logs, so none is missed in silence.
 */
import { join } from "node:path"
import { Result, Schema } from "effect"
import type { Disk } from "./chunk-device-disk.ts"
import { removeIfThere, writeWhole } from "./durable-file.ts"
import { encodeBatch } from "./log-batch.ts"
import { type LogReader, withLogReader } from "./log-reader.ts"
import { checkIdentity, StoreIdentity } from "./store-identity.ts"
import { StoreRefused } from "./store-refused.ts"

/** A journal's directory on a disk, and what it must be. */
export interface LogPlace {
  readonly disk: Disk
  readonly directory: string
  readonly identity: StoreIdentity
}

/** The two kinds of files. */
export type LogFileKind = "log" | "snapshot"

const Head = Schema.fromJsonString(
  Schema.Struct({
    identity: StoreIdentity,
    kind: Schema.Literals(["log", "snapshot"]),
    generation: Schema.Natural,
    first: Schema.Natural
  })
)
const encodeHead = Schema.encodeSync(Head)
const decodeHead = Schema.decodeUnknownResult(Head)
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The name that a file has while it is written. */
export const draftOf = (path: string): string => `${path}.draft`

/** Where the file of a kind and a generation stands. */
export const logPath = (place: LogPlace, kind: LogFileKind, generation: number): string =>
  join(place.directory, `${kind}-${generation}`)

/** The head of a file; its own number is the one before its first batch. */
export const headBatch = (
  place: LogPlace,
  head: { readonly kind: LogFileKind; readonly generation: number; readonly first: number }
): Buffer => {
  const text = encodeHead({ identity: place.identity, ...head })
  return encodeBatch("head", 0, [encoder.encode(text)])
}

/** The refusal that names damage. */
export const corruptLog = (place: LogPlace, what: string): StoreRefused =>
  new StoreRefused({ code: "corrupt", message: `The journal in ${place.directory}: ${what}.` })

/** The generations of a kind that are there, ascending. */
export const generationsOf = (
  names: ReadonlyArray<string>,
  kind: LogFileKind
): ReadonlyArray<number> =>
  names
    .flatMap((name) => {
      const digits = new RegExp(`^${kind}-(\\d{1,15})$`).exec(name)?.[1]
      return digits === undefined ? [] : [Number(digits)]
    })
    .toSorted((left, right) => left - right)

/** Opens a file whose head is the one expected; `use` gets where its first batch is. */
export const withLogFile = <A>(
  place: LogPlace,
  file: { readonly kind: LogFileKind; readonly generation: number },
  use: (
    reader: LogReader,
    begin: { readonly position: number; readonly first: number }
  ) => Promise<A>
): Promise<A> => {
  const { generation, kind } = file
  const name = `${kind}-${generation}`
  return withLogReader(place.disk, logPath(place, kind, generation), async (reader) => {
    const found = await reader.at(0, 0)
    if (found._tag !== "Whole" || found.batch.kind !== "head") {
      throw corruptLog(place, `${name} has no readable head`)
    }
    const head = Result.getOrThrowWith(decodeHead(decoder.decode(found.batch.payload)), (error) =>
      corruptLog(place, `the head of ${name} is not of this format: ${error.message}`)
    )
    const checked = checkIdentity(place.directory, head.identity, place.identity)
    if (Result.isFailure(checked)) throw checked.failure
    if (head.kind !== kind || head.generation !== generation) {
      throw corruptLog(place, `${name} is ${head.kind}-${head.generation} under another name`)
    }
    return use(reader, { position: found.next, first: head.first })
  })
}

/** Creates a file with its head, durable and with its name, or not there at all. */
export const createLog = async (
  place: LogPlace,
  head: { readonly generation: number; readonly first: number }
): Promise<number> => {
  const { disk } = place
  const path = logPath(place, "log", head.generation)
  const bytes = headBatch(place, { kind: "log", ...head })
  await removeIfThere(disk, draftOf(path))
  await writeWhole(disk, { temporary: draftOf(path), path, directory: place.directory }, bytes)
  return bytes.length
}

/** Removes what a snapshot has replaced; its own name is durable before. */
export const removeReplaced = async (place: LogPlace, generation: number): Promise<void> => {
  const names = await place.disk.names(place.directory)
  for (const kind of ["log", "snapshot"] as const) {
    for (const old of generationsOf(names, kind)) {
      if (old < generation) await removeIfThere(place.disk, logPath(place, kind, old))
    }
  }
}
