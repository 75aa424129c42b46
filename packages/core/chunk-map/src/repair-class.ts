/**
 * How urgent the repair of a chunk is, and the queues of those that wait, one a class.
 *
 * | class | the chunk has | it waits in |
 * |---|---|---|
 * | only-copy | one copy that can be read, and is below its goal | its queue |
 * | very-low | fewer than half its goal | its queue |
 * | low | fewer than its goal | its queue |
 * | badly-spread | its goal, on fewer hosts or racks than it could | its queue |
 * | surplus | more than its goal | no queue: trimming takes no slot of a copy, the sweep does it |
 *
 * A copy on a draining device can be read and copied from, and counts for nothing. The queues hold
 * at most `backlogMax` chunks each; what finds no place is found again by the next pass.
 */
import { deviceOfSlot } from "./devices.ts"
import type { Draft } from "./draft.ts"
import type { ChunkKey } from "./identity.ts"
import type { Device } from "./model.ts"
import type { MapEdit } from "./ordered-map.ts"
import { COUNTED, countSlots, EXPECTED, LOCATED } from "./slots.ts"
import { countedHolders, isBadlySpread } from "./spread.ts"

/** The classes that copies are made for, the most urgent first. */
export const repairClasses = ["only-copy", "very-low", "low", "badly-spread"] as const
/** A class that copies are made for. */
export type RepairClass = (typeof repairClasses)[number]

/** What a chunk with this replica set and goal wants. */
export type Want = RepairClass | "surplus" | "wait" | "nothing"

/** What a chunk wants; "wait" when a holder may be back in a moment. */
export const wantOf = (draft: Draft, set: number, goal: number): Want => {
  const { sets, slots } = draft
  const counted = countSlots(sets, slots, set, COUNTED)
  if (counted > goal) return "surplus"
  if (counted === goal) {
    return isBadlySpread(draft, countedHolders(draft, set)) ? "badly-spread" : "nothing"
  }
  const located = countSlots(sets, slots, set, LOCATED)
  if (located === 0) return "nothing"
  if (mayBeBack(draft, set, located)) return "wait"
  if (located === 1) return "only-copy"
  return counted * 2 < goal ? "very-low" : "low"
}

/**
 * Whether a holder that is silent or starting anew may soon make the repair needless. One that is
 * silent dies in the end; one that is heard has as long for its report as a part of it may take. An
 * only copy waits for neither a holder that said goodbye nor one that has gone stale.
 */
const mayBeBack = (draft: Draft, set: number, located: number): boolean => {
  for (const slot of draft.sets.members(set)) {
    if ((draft.slots.flags[slot]! & EXPECTED) === 0) continue
    const device = deviceOfSlot(draft, slot)
    if (device === undefined) continue
    if (isAwaited(draft, device, located)) return true
  }
  return false
}

const isAwaited = (draft: Draft, device: Device, located: number): boolean => {
  const { now, settings } = draft
  switch (device.liveness) {
    case "online":
      return now - device.awaitedSince < settings.reportLeaseMs
    case "absent":
      return located > 1 || now - device.lastHeard < settings.staleAfterMs
    case "stale":
      return located > 1
    case "dead":
      return false
  }
}

/** Whether copies are made for a chunk that wants this. */
export const isRepair = (want: Want): want is RepairClass =>
  want !== "surplus" && want !== "wait" && want !== "nothing"

/** The chunks of a class that wait. */
export const repairQueue = (draft: Draft, name: RepairClass): MapEdit<ChunkKey, true> => {
  switch (name) {
    case "only-copy":
      return draft.onlyCopy
    case "very-low":
      return draft.veryLow
    case "low":
      return draft.low
    case "badly-spread":
      return draft.badlySpread
  }
}

/** Lets a chunk wait in the queue of its class, if there is a place. */
export const queueRepair = (draft: Draft, name: RepairClass, key: ChunkKey): void => {
  const queue = repairQueue(draft, name)
  if (queue.size >= draft.settings.backlogMax) return
  queue.set({ fileId: key.fileId, chunkId: key.chunkId }, true)
}

/** Queues a chunk whose copies have just changed for what it wants now. */
export const queueIfWanted = (
  draft: Draft,
  chunk: ChunkKey & { readonly set: number; readonly goal: number }
): void => {
  const want = wantOf(draft, chunk.set, chunk.goal)
  if (isRepair(want)) queueRepair(draft, want, chunk)
}

/** Forgets a chunk that is gone. */
export const dropFromRepair = (draft: Draft, key: ChunkKey): void => {
  for (const name of repairClasses) repairQueue(draft, name).delete(key)
}
