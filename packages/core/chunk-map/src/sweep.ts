/**
 * The sweep: a pass over all committed chunks, some of them each tick, without end.
 *
 * It takes retired slots out of replica sets, queues what is below its goal for repair, trims what
 * is above it, and counts what still needs a draining device. Chunks whose set and goal are as they
 * should be cost one look at a remembered verdict, so 100,000 of them take about a millisecond.
 *
 * Trimming never leaves fewer than the goal of assured copies: on devices that are heard, have
 * reported, and give no reason for doubt. Which copy goes is decided by the state alone: the one
 * that the spread can spare first (a host that holds another one, then a rack), then the one on the
 * device with the least free share, then by name.
 */
import { roomOf } from "./alloc.ts"
import { copiesUnderWay } from "./copies.ts"
import { queueDeletion } from "./deletions.ts"
import { deviceOfSlot } from "./devices.ts"
import { passIsOver } from "./drain.ts"
import type { Draft } from "./draft.ts"
import { setReplicas } from "./merge.ts"
import type { Device } from "./model.ts"
import { hasFuture } from "./odd.ts"
import {
  advance,
  newCursor,
  rowChunkId,
  rowFileId,
  rowGoal,
  rowRecord,
  rowSet,
  seekFrom,
  type ChunkRecord,
  type Cursor
} from "./packed-tree.ts"
import { isRepair, queueRepair, wantOf } from "./repair-class.ts"
import { inSafeMode } from "./safe-mode-view.ts"
import { ASSURED, COUNTED, countSlots, RETIRED } from "./slots.ts"
import { countedHolders, isBadlySpread, sparedBy } from "./spread.ts"

/** Looks at the next chunks of the pass; in safe mode at none. */
export const sweepChunks = (draft: Draft): void => {
  if (inSafeMode(draft)) return
  const { scalars, settings, chunks } = draft
  const cursor = newCursor()
  const asTheyShouldBe = new Set<number>()
  let here = seekFrom(chunks, scalars.sweepAt, cursor)
  for (let left = settings.sweepChunks; left > 0 && here; left--) {
    const setAndGoal = cursor.words[cursor.offset + 4]!
    if (!asTheyShouldBe.has(setAndGoal)) {
      if (isAsItShouldBe(draft, setAndGoal >>> 4, setAndGoal & 0xf)) asTheyShouldBe.add(setAndGoal)
      else attend(draft, cursor)
    }
    here = advance(chunks, cursor)
  }
  if (here) {
    const { words, offset } = cursor
    scalars.sweepAt = { fileId: rowFileId(words, offset), chunkId: rowChunkId(words, offset) }
  } else {
    scalars.sweepAt = { fileId: 0, chunkId: 0 }
    scalars.sweepPasses++
    passIsOver(draft)
  }
}

/** Whether there is nothing to do for any chunk with this set and goal. */
const isAsItShouldBe = (draft: Draft, set: number, goal: number): boolean => {
  const { sets, slots } = draft
  const members = sets.members(set).length
  if (members === 0) return true
  if (members !== goal || countSlots(sets, slots, set, COUNTED) !== goal) return false
  return !isBadlySpread(draft, countedHolders(draft, set))
}

const attend = (draft: Draft, cursor: Cursor): void => {
  dropRetired(draft, cursor)
  const set = rowSet(cursor.words, cursor.offset)
  const goal = rowGoal(cursor.words, cursor.offset)
  const want = wantOf(draft, set, goal)
  if (want === "surplus") trim(draft, cursor, rowRecord(cursor.words, cursor.offset))
  else if (isRepair(want)) {
    const fileId = rowFileId(cursor.words, cursor.offset)
    queueRepair(draft, want, { fileId, chunkId: rowChunkId(cursor.words, cursor.offset) })
  }
  if (countSlots(draft.sets, draft.slots, set, ASSURED) < goal) noteDraining(draft, set)
}

const dropRetired = (draft: Draft, cursor: Cursor): void => {
  const before = rowSet(cursor.words, cursor.offset)
  let set = before
  for (const slot of draft.sets.members(before)) {
    if ((draft.slots.flags[slot]! & RETIRED) !== 0) set = draft.sets.without(set, slot)
  }
  if (set !== before) setReplicas(draft, cursor, set)
}

/** A chunk without its goal of assured copies needs every draining device that holds it. */
const noteDraining = (draft: Draft, set: number): void => {
  for (const slot of draft.sets.members(set)) {
    const device = deviceOfSlot(draft, slot)
    if (device === undefined || device.desired !== "draining") continue
    const needed = draft.scalars.drainNeeded.get(device.index) ?? 0
    draft.scalars.drainNeeded = new Map(draft.scalars.drainNeeded).set(device.index, needed + 1)
  }
}

const trim = (draft: Draft, cursor: Cursor, record: ChunkRecord): void => {
  const assured: Array<{ slot: number; device: Device }> = []
  for (const slot of draft.sets.members(record.set)) {
    if ((draft.slots.flags[slot]! & ASSURED) === 0) continue
    const device = deviceOfSlot(draft, slot)
    if (device !== undefined) assured.push({ slot, device })
  }
  if (assured.length <= record.goal) return
  if (hasFuture(draft, record) || copiesUnderWay(draft, record).length > 0) return
  while (assured.length > record.goal) {
    const { slot, device } = pickSurplus(draft, assured)
    assured.splice(
      assured.findIndex((holder) => holder.slot === slot),
      1
    )
    const set = draft.sets.without(rowSet(cursor.words, cursor.offset), slot)
    setReplicas(draft, cursor, set)
    queueDeletion(draft, { device: device.index, copy: record, reason: "surplus", heldBy: slot })
  }
}

/** The copy that goes: see the module comment. */
const pickSurplus = (
  draft: Draft,
  holders: ReadonlyArray<{ slot: number; device: Device }>
): { slot: number; device: Device } => {
  const devices = holders.map(({ device }) => device)
  const share = (device: Device) => roomOf(draft, device) / Math.max(1, device.capacity)
  const order = holders.toSorted(
    (left, right) =>
      sparedBy(right.device, devices) - sparedBy(left.device, devices) ||
      share(left.device) - share(right.device) ||
      (left.device.deviceId < right.device.deviceId ? 1 : -1)
  )
  return order[0]!
}
