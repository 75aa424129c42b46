/**
 * A name of plain files: the file it stands for, if any, and the file ids that it left behind.
 *
 *     file ids    3   5   │   8   │   9
 *               freeable    file    unfinished
 *
 * Without a file the highest deleted id takes the file's place, and is freeable itself. Where puts
 * were given up, the line moves behind the highest of them: 9 is freeable then, and a put that ends
 * it comes too late.
 */
import type { CatalogueState } from "./events.ts"
import { type FileEntry, fileLeftoversMax } from "./file-entry.ts"

/** A name that was used. */
export interface NamedFile {
  readonly name: string
  readonly file: FileEntry | undefined
  /** The highest id that was stored, deleted or given up, or 0: no put up to it ends any more. */
  readonly settled: number
  /** Ids whose chunks may still be there, ascending; never the file's own. */
  readonly leftovers: ReadonlyArray<number>
}

/** The name in an entry; none when it is an entry of another kind, or of another name. */
export const namedFileOf = (name: string, state: CatalogueState): NamedFile | undefined => {
  switch (state._tag) {
    case "Empty":
      return { name, file: undefined, settled: 0, leftovers: [] }
    case "File": {
      const { file, givenUp = file.fileId, leftovers = [] } = state
      return file.name === name ? { name, file, settled: givenUp, leftovers } : undefined
    }
    case "DeletedFile": {
      const { fileId, leftovers = [] } = state
      return state.name === name ? { name, file: undefined, settled: fileId, leftovers } : undefined
    }
    case "Segment":
    case "ExpiredSegment":
    case "Archive":
      return undefined
  }
}

/** The entry of a name. */
export const entryOfNamedFile = (named: NamedFile): CatalogueState => {
  const { file, leftovers, name, settled } = named
  const left = leftovers.length === 0 ? {} : { leftovers }
  if (file === undefined) return { _tag: "DeletedFile", name, fileId: settled, ...left }
  const givenUp = settled === file.fileId ? {} : { givenUp: settled }
  return { _tag: "File", file, ...left, ...givenUp }
}

/** The name with further file ids left behind; beyond the limit the lowest are forgotten. */
export const leaveBehind = (named: NamedFile, fileIds: ReadonlyArray<number>): NamedFile => {
  const known = new Set([...named.leftovers, ...fileIds])
  if (named.file !== undefined) known.delete(named.file.fileId)
  const leftovers = Array.from(known).toSorted((left, right) => left - right)
  return { ...named, leftovers: leftovers.slice(-fileLeftoversMax) }
}

/** The file ids whose chunks nothing refers to any more, ascending. */
export const freeableFiles = ({ leftovers, settled }: NamedFile): ReadonlyArray<number> =>
  leftovers.filter((fileId) => fileId <= settled)

/** The file ids of puts that began and did not end, the newest first. */
export const unfinishedFiles = ({ leftovers, settled }: NamedFile): ReadonlyArray<number> =>
  leftovers.filter((fileId) => fileId > settled).toReversed()
