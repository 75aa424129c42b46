/** What must be true of every entry, checked by tests, the simulator and, sampled, by peers. */
import type { CatalogueState } from "./events.ts"

/** A broken invariant, by its number in `invariants`. */
export interface Violation {
  readonly invariant: number
  readonly message: string
}

/**
 * 1. A segment's bounds are in order, and it has a record.
 * 2. A tag that overflowed lists no values.
 * 3. Each rule of an archive stands since a count of rules that is not in the future.
 * 4. No chunk of a plain file stands in it twice.
 */
export const invariants = (state: CatalogueState): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const check = (invariant: number, holds: boolean, message: string): void => {
    if (!holds) violations.push({ invariant, message })
  }
  switch (state._tag) {
    case "Empty":
    case "DeletedFile":
      break
    case "File":
      check(4, new Set(state.file.chunks).size === state.file.chunks.length, "a chunk stands twice")
      break
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
