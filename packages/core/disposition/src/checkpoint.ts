/**
 * What to store of a tracker: how far it is finished, and what is finished above that.
 *
 * 1. The position never passes an unfinished record.
 * 2. The map holds every finished record of the window and every claim of the restored map that the
 *    tracker has not come to yet, so that a second restart loses nothing that the first knew.
 */
import {
  type Bits,
  type CompletionMap,
  highestClaim,
  type PartialRecord,
  type Runs,
  runsOf
} from "./completion-map.ts"
import { copyPartSet } from "./part-set.ts"
import type { Tracker } from "./tracker.ts"
import { slotFinished, totalUnknown } from "./window.ts"

/** A shard's progress as data; the map's base is the position. */
export interface Progress {
  /** Everything up to here is finished; none when nothing is. */
  readonly position: bigint | undefined
  readonly map: CompletionMap
}

/** The tracker's progress, sharing nothing with it. O(span). */
export const checkpoint = (tracker: Tracker): Progress => {
  const position = tracker.lowWatermark
  const { restored } = tracker
  const newest = tracker.newestPosition ?? -1n
  const highest = restored === undefined ? undefined : highestClaim(restored)
  const partials = collectPartials(tracker)
  if (restored === undefined || highest === undefined || highest <= newest) {
    const claims = isDense(tracker) ? collectBits(tracker) : collectRuns(tracker)
    return { position, map: { base: position, claims, partials } }
  }
  const claims = carryRuns(collectRuns(tracker), restored, newest)
  for (const partial of restored.partials) if (partial.position > newest) partials.push(partial)
  return { position, map: { base: position, claims, partials } }
}

const isDense = ({ newestPosition, window }: Tracker): boolean =>
  window.span > 0 &&
  (newestPosition ?? -1n) - window.positionAt(window.head) === BigInt(window.span - 1)

const collectBits = ({ window }: Tracker): Bits => {
  const { head, mask, span, states } = window
  const bytes = new Uint8Array((span + 7) >>> 3)
  for (let step = 0; step < span; step++) {
    if (states[(head + step) & mask] === slotFinished) bytes[step >>> 3]! |= 1 << (step & 7)
  }
  return { _tag: "Bits", origin: window.positionAt(head), bytes }
}

const collectRuns = ({ window }: Tracker): Runs => {
  const from: Array<bigint> = []
  const to: Array<bigint> = []
  const { head, mask, positions, span, states } = window
  let wasFinished = false
  let last = 0
  for (let step = 0; step < span; step++) {
    const slot = (head + step) & mask
    const isFinished = states[slot] === slotFinished
    if (isFinished && !wasFinished) from.push(positions[slot]!)
    else if (!isFinished && wasFinished) to.push(positions[last]!)
    wasFinished = isFinished
    last = slot
  }
  if (wasFinished) to.push(positions[last]!)
  return { _tag: "Runs", from, to }
}

const collectPartials = ({ window }: Tracker): Array<PartialRecord> => {
  const partials: Array<PartialRecord> = []
  const { head, mask, span, states, totals } = window
  for (let step = 0; step < span; step++) {
    const slot = (head + step) & mask
    if (states[slot] === slotFinished || totals[slot] === totalUnknown) continue
    const finished = window.partsOf(slot)
    if (finished === undefined || finished.count === 0) continue
    partials.push({ position: window.positionAt(head + step), finished: copyPartSet(finished) })
  }
  return partials
}

const carryRuns = (own: Runs, restored: CompletionMap, newest: bigint): Runs => {
  const from = [...own.from]
  const to = [...own.to]
  const earlier = runsOf(restored.claims)
  for (const [index, end] of earlier.to.entries()) {
    if (end <= newest) continue
    const start = earlier.from[index]!
    from.push(start > newest ? start : newest + 1n)
    to.push(end)
  }
  return { _tag: "Runs", from, to }
}
