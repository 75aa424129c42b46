/**
 * Surplus: copies beyond the goal, which are trimmed.
 *
 * Trimming never leaves fewer than the goal of assured copies: on devices that are heard, have
 * reported, and give no reason for doubt. Which copy goes is decided by the state alone: the one
 * that the spread can spare first (a host that holds another one, then a rack), then the one on the
 * device with the least free share, then by name.
 */
import { copiesUnderWay } from "./copies.ts"
import { queueDeletion } from "./deletions.ts"
import { deviceOfSlot } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { setReplicas } from "./merge.ts"
import type { Device } from "./model.ts"
import { hasFuture } from "./odd.ts"
import { rowRecord, rowSet, type Cursor } from "./packed-tree.ts"
import { freeShare } from "./room.ts"
import { ASSURED } from "./slots.ts"
import { sparedBy } from "./spread.ts"

/** The holders of a set whose copies are assured. */
export const assuredHolders = (draft: Draft, set: number): ReadonlyArray<Device> => {
  const holders: Array<Device> = []
  for (const slot of draft.sets.members(set)) {
    if ((draft.slots.flags[slot]! & ASSURED) === 0) continue
    const device = deviceOfSlot(draft, slot)
    if (device !== undefined) holders.push(device)
  }
  return holders
}

/** The holder whose copy goes first; see the module comment. */
export const pickSurplus = (draft: Draft, holders: ReadonlyArray<Device>): Device =>
  holders.toSorted(
    (left, right) =>
      sparedBy(right, holders) - sparedBy(left, holders) ||
      freeShare(draft, left) - freeShare(draft, right) ||
      (left.deviceId < right.deviceId ? 1 : -1)
  )[0]!

/** Trims the chunk under the cursor to its goal. */
export const trimSurplus = (draft: Draft, cursor: Cursor): void => {
  const record = rowRecord(cursor.words, cursor.offset)
  let assured = assuredHolders(draft, record.set)
  if (assured.length <= record.goal) return
  if (hasFuture(draft, record) || copiesUnderWay(draft, record).length > 0) return
  while (assured.length > record.goal) {
    const surplus = pickSurplus(draft, assured)
    const { index, slot } = surplus
    assured = assured.filter((device) => device !== surplus)
    const set = draft.sets.without(rowSet(cursor.words, cursor.offset), slot)
    setReplicas(draft, cursor, set)
    queueDeletion(draft, { device: index, copy: record, reason: "surplus", heldBy: slot })
  }
}
