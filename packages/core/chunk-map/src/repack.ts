/**
 * Repacking: a new table of replica sets with only those that a chunk names.
 *
 * Each new report of a device makes new sets of all that held it, and the table only grows. When
 * most of it is not named any more, one pass over all chunks moves them to a new table. States from
 * before keep the old one. O(chunks), about a tenth of a second for a million, once in thousands of
 * reports.
 */
import { CountsEdit, eachCount, noCounts } from "./counts.ts"
import type { Draft } from "./draft.ts"
import { advance, newCursor, rowGoal, rowSet, seekFrom } from "./packed-tree.ts"
import { ReplicaSets } from "./replica-sets.ts"
import { RETIRED } from "./slots.ts"

const SETS_KEPT_ANYWAY = 10_000
const GARBAGE_SHARE = 4

/** Repacks the replica sets when most of them are not named by any chunk. */
export const repackWhenDue = (draft: Draft): void => {
  if (draft.sets.size < SETS_KEPT_ANYWAY) return
  let named = 0
  eachCount(draft.counts, () => named++)
  if (draft.sets.size > SETS_KEPT_ANYWAY + GARBAGE_SHARE * named) repack(draft)
}

/** Moves all chunks to a new table of replica sets; retired slots are left behind. */
export const repack = (draft: Draft): void => {
  const before = draft.sets
  const sets = new ReplicaSets()
  const counts = new CountsEdit(noCounts)
  const moved = new Map<number, number>()
  const cursor = newCursor()
  let here = seekFrom(draft.chunks, { fileId: 0, chunkId: 0 }, cursor)
  while (here) {
    const old = rowSet(cursor.words, cursor.offset)
    let set = moved.get(old)
    if (set === undefined) {
      set = 0
      for (const slot of before.members(old)) {
        if ((draft.slots.flags[slot]! & RETIRED) === 0) set = sets.with(set, slot)
      }
      moved.set(old, set)
    }
    counts.add(set, rowGoal(cursor.words, cursor.offset), 1)
    draft.chunks.putSet(cursor, set)
    here = advance(draft.chunks, cursor)
  }
  draft.sets = sets
  draft.counts = counts
}
