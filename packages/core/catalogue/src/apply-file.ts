/**
 * The events of a plain file.
 *
 *     Begun ─▶ chunks are written under the file id ─▶ Stored ─▶ Freed, of what lost its place
 *                     └─ the sender dies: the id stays known, for the next put or a deletion,
 *                        or until it is GivenUp
 *
 * 1. Of two files of one name the one with the higher file id stays, in whatever order they come;
 *    of two with one file id, whose chunks are kept together, the one of the later attempt.
 * 2. What was deleted stays deleted, unless a later file takes the name.
 * 3. A file id whose chunks nothing refers to is known until they were freed. To begin frees
 *    nothing: only what is complete, or a deletion, takes the place of another.
 * 4. To give up puts touches no file, whatever is stored meanwhile; a put that was given up and
 *    ends all the same is told so.
 */
import { refuse } from "./apply-segment.ts"
import type { Applied, CatalogueState } from "./events.ts"
import { type FileEntry, fileAttemptOf, fileLeftoversMax } from "./file-entry.ts"
import {
  entryOfNamedFile,
  freeableFiles,
  leaveBehind,
  type NamedFile,
  namedFileOf
} from "./named-file.ts"
import { compareBytes } from "./ordered-bytes.ts"

/** An event about one file id of a name. */
interface FileEvent {
  readonly name: string
  readonly fileId: number
}

const otherKind = (state: CatalogueState): Applied =>
  refuse(state, "wrong-partition", "This is the entry of something else than a file.")

const unchanged = (state: CatalogueState): Applied => ({ output: { _tag: "Unchanged" }, state })

const notFound = (state: CatalogueState, name: string): Applied =>
  refuse(state, "not-found", `There is no file "${name}".`)

/** The answer that says what can be freed: `loser` because of the event, others since before. */
const accepted = (named: NamedFile, loser?: number): Applied => {
  const since = freeableFiles(named).filter((fileId) => fileId !== loser)
  return {
    output: {
      _tag: "Accepted",
      free: [],
      ...(loser === undefined ? {} : { freeFile: loser }),
      ...(since.length === 0 ? {} : { freeFiles: since })
    },
    state: entryOfNamedFile(named)
  }
}

/** A put is about to write chunks under a file id. */
export const applyBegun = ({ fileId, name }: FileEvent, state: CatalogueState): Applied => {
  const named = namedFileOf(name, state)
  if (named === undefined) return otherKind(state)
  if (named.file?.fileId === fileId || named.leftovers.includes(fileId)) return unchanged(state)
  if (named.leftovers.length >= fileLeftoversMax) {
    const many = `${fileLeftoversMax} puts of "${name}" began and did not end`
    const message = `${many}: remove it first, or wait until they are given up.`
    return refuse(state, "conflict", message)
  }
  return accepted(leaveBehind(named, [fileId]), fileId <= named.settled ? fileId : undefined)
}

/** A file is stored. */
export const applyStored = (file: FileEntry, state: CatalogueState): Applied => {
  const named = namedFileOf(file.name, state)
  if (named === undefined) return otherKind(state)
  const { file: held, settled } = named
  if (held?.fileId === file.fileId) return storeAgain(file, { named, held, state })
  if (file.fileId <= settled) return accepted(leaveBehind(named, [file.fileId]), file.fileId)
  const left = held === undefined ? [] : [held.fileId]
  return accepted(leaveBehind({ ...named, file, settled: file.fileId }, left), held?.fileId)
}

/** Two attempts at one file id, which share its chunks: the later one stays. */
const storeAgain = (
  file: FileEntry,
  before: {
    readonly named: NamedFile
    readonly held: FileEntry
    readonly state: CatalogueState
  }
): Applied => {
  const { held, named, state } = before
  if (fileAttemptOf(file) > fileAttemptOf(held)) return accepted({ ...named, file })
  return compareBytes(file.digest, held.digest) === 0
    ? unchanged(state)
    : refuse(state, "exists", `A later put of "${file.name}" went on with this one and ended.`)
}

/**
 * A name is deleted, with all puts of it up to a file id; a repeat names their chunks again, for a
 * sender that died in between.
 */
export const applyDeleted = ({ fileId, name }: FileEvent, state: CatalogueState): Applied => {
  const named = namedFileOf(name, state)
  if (named === undefined) return otherKind(state)
  const { file, leftovers, settled } = named
  if (file !== undefined) {
    if (fileId < file.fileId) {
      return refuse(state, "conflict", `Another file took the name "${name}" since.`)
    }
    const deleted = { ...named, file: undefined, settled: Math.max(fileId, settled) }
    return accepted(leaveBehind(deleted, [file.fileId]), file.fileId)
  }
  if (fileId === settled && settled > 0) return accepted(named, fileId)
  const takesAny = leftovers.some((left) => left > settled && left <= fileId)
  return takesAny ? accepted({ ...named, settled: fileId }) : notFound(state, name)
}

/** Puts of a name up to a file id are given up; a repeat names their chunks again. */
export const applyGivenUp = ({ fileId, name }: FileEvent, state: CatalogueState): Applied => {
  const named = namedFileOf(name, state)
  if (named === undefined) return otherKind(state)
  const { leftovers, settled } = named
  if (leftovers.some((left) => left > settled && left <= fileId)) {
    return accepted({ ...named, settled: fileId })
  }
  return freeableFiles(named).length === 0 ? unchanged(state) : accepted(named)
}

/** The chunks of file ids are freed: they need not be known any longer. */
export const applyFreed = (
  event: { readonly name: string; readonly fileIds: ReadonlyArray<number> },
  state: CatalogueState
): Applied => {
  const { fileIds, name } = event
  const named = namedFileOf(name, state)
  if (named === undefined) return otherKind(state)
  const gone = new Set(freeableFiles(named).filter((fileId) => fileIds.includes(fileId)))
  if (gone.size === 0) return unchanged(state)
  const leftovers = named.leftovers.filter((fileId) => !gone.has(fileId))
  return accepted({ ...named, leftovers })
}
