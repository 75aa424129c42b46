/**
 * The sweep: a pass over all committed chunks, some of them each tick, without end; whatever
 * happens meanwhile, it goes on to the last chunk before it begins anew, so that none waits for
 * ever.
 *
 * It takes retired slots out of replica sets, queues what is below its goal for repair, trims what
 * is above it (`surplus.ts`), and counts what still needs a draining device. Chunks for whose set
 * and goal nothing is to be done cost one look at a remembered verdict, so 100,000 of them take
 * about a millisecond; one that is attended to counts as many, so that no tick takes long.
 */
import { deviceOfSlot } from "./devices.ts"
import { passIsOver } from "./drain.ts"
import type { Draft } from "./draft.ts"
import { setReplicas } from "./merge.ts"
import {
  advance,
  newCursor,
  rowChunkId,
  rowFileId,
  rowGoal,
  rowSet,
  seekFrom,
  type Cursor
} from "./packed-tree.ts"
import { isRepair, queueRepair, wantOf } from "./repair-class.ts"
import { inSafeMode } from "./safe-mode-view.ts"
import { ASSURED, countSlots, RETIRED } from "./slots.ts"
import { trimSurplus } from "./surplus.ts"

/** How many looks at a verdict one chunk counts as that is attended to. */
const ATTENDED_COST = 16

/** Looks at the next chunks of the pass; in safe mode at none. */
export const sweepChunks = (draft: Draft): void => {
  if (inSafeMode(draft)) return
  const { scalars, settings, chunks } = draft
  const cursor = newCursor()
  const verdicts = new Map<number, boolean>()
  let here = seekFrom(chunks, scalars.sweepAt, cursor)
  for (let left = settings.sweepChunks; left > 0 && here; left--) {
    const setAndGoal = cursor.words[cursor.offset + 4]!
    let isToDo = verdicts.get(setAndGoal)
    if (isToDo === undefined) {
      isToDo = !isAsItShouldBe(draft, setAndGoal >>> 4, setAndGoal & 0xf)
      verdicts.set(setAndGoal, isToDo)
    }
    if (isToDo) {
      attend(draft, cursor)
      left -= ATTENDED_COST - 1
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
  const members = draft.sets.members(set)
  if (members.some((slot) => (draft.slots.flags[slot]! & RETIRED) !== 0)) return false
  if (needsDraining(draft, set, goal)) return false
  const want = wantOf(draft, set, goal)
  return want === "nothing" || want === "wait"
}

/** Whether the chunk has too few assured copies, and one of its holders is to be drained. */
const needsDraining = (draft: Draft, set: number, goal: number): boolean =>
  countSlots(draft.sets, draft.slots, set, ASSURED) < goal &&
  draft.sets.members(set).some((slot) => deviceOfSlot(draft, slot)?.desired === "draining")

const attend = (draft: Draft, cursor: Cursor): void => {
  dropRetired(draft, cursor)
  const set = rowSet(cursor.words, cursor.offset)
  const goal = rowGoal(cursor.words, cursor.offset)
  const want = wantOf(draft, set, goal)
  if (want === "surplus") trimSurplus(draft, cursor)
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
