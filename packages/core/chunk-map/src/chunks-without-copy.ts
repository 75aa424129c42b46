/** Chunks of which no copy may be read now: whoever may hold one has not said so, or is gone. */
import { eachCount } from "./counts.ts"
import type { Draft } from "./draft.ts"
import { countSlots, LOCATED } from "./slots.ts"

/** Whether no copy under a replica set may be read. */
export const hasNoCopy = (draft: Draft, set: number): boolean =>
  countSlots(draft.sets, draft.slots, set, LOCATED) === 0

/** How many chunks have no copy that may be read. O(replica sets). */
export const chunksWithoutCopy = (draft: Draft): number => {
  let without = 0
  eachCount(draft.counts, (set, _goal, chunks) => {
    if (hasNoCopy(draft, set)) without += chunks
  })
  return without
}
