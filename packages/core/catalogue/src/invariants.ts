/** What must be true of every entry, checked by tests, the simulator and, sampled, by peers. */
import type { CatalogueState } from "./events.ts"
import { fileLeftoversMax } from "./file-entry.ts"

/** A broken invariant, by its number in `invariants`. */
export interface Violation {
  readonly invariant: number
  readonly message: string
}

const isAscending = (fileIds: ReadonlyArray<number>): boolean =>
  fileIds.length <= fileLeftoversMax &&
  fileIds.every((fileId, at) => at === 0 || fileId > (fileIds[at - 1] ?? fileId))

/**
 * 1. A segment's bounds are in order, and it has a record.
 * 2. A tag that overflowed lists no values.
 * 3. Each rule of an archive stands since a count of rules that is not in the future.
 * 4. No chunk of a plain file stands in it twice.
 * 5. What a name left behind is in order, is not its file, and is within its limit.
 * 6. A file's name gives up puts above the file alone.
 */
export const invariants = (state: CatalogueState): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const check = (invariant: number, holds: boolean, message: string): void => {
    if (!holds) violations.push({ invariant, message })
  }
  switch (state._tag) {
    case "Empty":
      break
    case "DeletedFile":
      check(5, isAscending(state.leftovers ?? []), "what a name left behind is out of order")
      break
    case "File": {
      const { file, givenUp, leftovers = [] } = state
      check(4, new Set(file.chunks).size === file.chunks.length, "a chunk stands twice")
      check(5, isAscending(leftovers), "what a name left behind is out of order")
      check(5, !leftovers.includes(file.fileId), "a file is left behind by its own name")
      check(6, givenUp === undefined || givenUp > file.fileId, "a file was given up as a put")
      break
    }
    case "ExpiredSegment":
      check(1, state.first <= state.last, "an expired segment ends before it begins")
      break
    case "Segment": {
      const { count, first, last, tags, timeMax, timeMin } = state.segment
      check(1, first <= last && timeMin <= timeMax, "a segment ends before it begins")
      check(1, count >= 1, "a segment has no record")
      for (const { name, overflowed, values } of tags) {
        check(2, !overflowed || values.length === 0, `"${name}" overflowed and lists values`)
      }
      break
    }
    case "Archive": {
      const { rules, rulesSince, settings } = state.archive
      for (const { name } of settings.tags) {
        const since = rulesSince[name]
        check(3, since !== undefined && since <= rules, `the rule "${name}" is of the future`)
      }
      break
    }
  }
  return violations
}
