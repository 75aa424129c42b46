/**
 * What to store of a tracker: how far it is finished, and what is finished above that.
 *
 * 1. The position never passes an unfinished record.
 * 2. The map holds every finished record of the window and every claim of the restored map that the
 *    tracker has not come to yet, so that a second restart loses nothing that the first knew.
 */
import { type CompletionMap, type PartialRecord, runsOf } from "./completion-map.ts"
import { copyPartSet } from "./part-set.ts"
import type { Tracker } from "./tracker.ts"
import { slotFinished } from "./window.ts"

/** A shard's progress as data; the map's base is the position. */
export interface Progress {
  /** Everything up to here is finished; none when nothing is. */
  readonly position: bigint | undefined
  readonly map: CompletionMap
}

/** The tracker's progress, sharing nothing with it. O(span). */
export const checkpoint = (tracker: Tracker): Progress => {
  const position = tracker.lowWatermark
  const from: Array<bigint> = []
  const to: Array<bigint> = []
  collectRuns(tracker, from, to)
  const partials = collectPartials(tracker)
  const { restored } = tracker
  if (restored !== undefined) {
    const newest = tracker.newestPosition ?? -1n
    carryRuns(restored, { newest, from, to })
    for (const partial of restored.partials) if (partial.position > newest) partials.push(partial)
  }
  return { position, map: { base: position, claims: { _tag: "Runs", from, to }, partials } }
}

const collectRuns = ({ window }: Tracker, from: Array<bigint>, to: Array<bigint>): void => {
  const { head, mask, next, positions, states } = window
  for (let ordinal = head; ordinal < next; ordinal++) {
    if (states[ordinal & mask] !== slotFinished) continue
    from.push(positions[ordinal & mask]!)
    while (ordinal + 1 < next && states[(ordinal + 1) & mask] === slotFinished) ordinal += 1
    to.push(positions[ordinal & mask]!)
  }
}

const collectPartials = ({ window }: Tracker): Array<PartialRecord> => {
  const partials: Array<PartialRecord> = []
  for (let ordinal = window.head; ordinal < window.next; ordinal++) {
    if (window.stateAt(ordinal) === slotFinished) continue
    const finished = window.partsOf(ordinal & window.mask)
    if (finished === undefined || finished.count === 0) continue
    partials.push({ position: window.positionAt(ordinal), finished: copyPartSet(finished) })
  }
  return partials
}

const carryRuns = (
  restored: CompletionMap,
  target: { readonly newest: bigint; readonly from: Array<bigint>; readonly to: Array<bigint> }
): void => {
  const { from, to } = runsOf(restored.claims)
  for (let index = 0; index < to.length; index++) {
    if (to[index]! <= target.newest) continue
    const start = from[index]! > target.newest ? from[index]! : target.newest + 1n
    target.from.push(start)
    target.to.push(to[index]!)
  }
}
