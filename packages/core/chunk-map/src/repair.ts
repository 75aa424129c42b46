/**
 * Repair: copies for chunks that have fewer than their goal.
 *
 * 1. A source holds the committed version, verified and reported; so does a copy in the end,
 *    because the target's word on length and checksum decides.
 * 2. A target has reported everything, is heard, is meant to be used, has room, holds no copy of
 *    the chunk in any state and is not about to delete one.
 * 3. Chunks with one copy left go first. A device that may be back in a moment is waited for.
 * 4. Nothing is repaired in safe mode, before `repairDelayMs` after it, or after a mass death.
 * 5. Per device at most `copiesInMax` copies in and `copiesOutMax` out, and beyond the first copy
 *    at most `copyBytesInMax` bytes in.
 */
import { roomOf } from "./alloc.ts"
import { copiesUnderWay, startCopy } from "./copies.ts"
import { candidates, deviceAt, deviceOfSlot, firstCopy } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { BYTES_IN, COPIES_IN, COPIES_OUT } from "./figures.ts"
import { compareChunks, type ChunkKey } from "./identity.ts"
import type { Device } from "./model.ts"
import { oddCopies } from "./odd.ts"
import { findRecord, type ChunkRecord } from "./packed-tree.ts"
import { inSafeMode } from "./safe-mode-view.ts"
import { COUNTED, countSlots, EXPECTED, LOCATED } from "./slots.ts"

/** What a chunk that is below its goal wants. */
export type Want = "urgent" | "below-goal" | "wait" | "nothing"

/** Whether a chunk is to be repaired, and how soon. */
export const wantOf = (draft: Draft, set: number, goal: number): Want => {
  const { sets, slots } = draft
  if (countSlots(sets, slots, set, COUNTED) >= goal) return "nothing"
  const located = countSlots(sets, slots, set, LOCATED)
  if (located === 0) return "nothing"
  if (mayBeBack(draft, set, located)) return "wait"
  return located === 1 ? "urgent" : "below-goal"
}

/** Whether a holder that is silent or starting anew may soon make the repair needless. */
const mayBeBack = (draft: Draft, set: number, located: number): boolean => {
  for (const slot of draft.sets.members(set)) {
    if ((draft.slots.flags[slot]! & EXPECTED) === 0) continue
    const device = deviceOfSlot(draft, slot)
    if (device === undefined) continue
    const silence = draft.now - device.lastHeard
    if (located > 1 || device.liveness === "online" || silence < draft.settings.staleAfterMs) {
      return true
    }
  }
  return false
}

/** Whether repair may run at this moment. */
export const repairMayRun = (draft: Draft): boolean =>
  !inSafeMode(draft) &&
  !draft.scalars.repairStopped &&
  draft.now >= draft.scalars.safeMode.leftAt + draft.settings.repairDelayMs

/** Plans copies for the chunks that wait, the urgent ones first. */
export const planRepair = (draft: Draft): void => {
  if (!repairMayRun(draft)) return
  for (const queue of [draft.urgent, draft.belowGoal]) {
    for (const [key] of queue.slice(draft.settings.backlogMax)) {
      const planned = planChunk(draft, key)
      if (planned === "no-room-now") continue
      queue.delete(key)
    }
  }
}

type Planned = "done" | "no-room-now"

const planChunk = (draft: Draft, key: ChunkKey): Planned => {
  const record = findRecord(draft.chunks, key)
  if (record === undefined) return "done"
  const want = wantOf(draft, record.set, record.goal)
  if (want === "nothing" || want === "wait") return "done"
  const counted = countSlots(draft.sets, draft.slots, record.set, COUNTED)
  let missing = record.goal - counted - copiesUnderWay(draft, record).length
  while (missing > 0) {
    const source = chooseSource(draft, record)
    if (source === undefined) return "no-room-now"
    const target = chooseTarget(draft, record)
    if (target === "none") return "done"
    if (target === "busy") return "no-room-now"
    startCopy(draft, record, { source, target })
    missing--
  }
  return "done"
}

const chooseSource = (draft: Draft, record: ChunkRecord): Device | undefined => {
  let best: Device | undefined
  let least = draft.settings.copiesOutMax
  for (const slot of draft.sets.members(record.set)) {
    if ((draft.slots.flags[slot]! & LOCATED) === 0) continue
    const device = deviceOfSlot(draft, slot)
    if (device === undefined) continue
    const out = draft.figures.get(device.index, COPIES_OUT)
    const penalty = device.liveness === "online" ? 0 : draft.settings.copiesOutMax / 2
    if (out + penalty < least) {
      least = out + penalty
      best = device
    }
  }
  return best
}

const chooseTarget = (draft: Draft, record: ChunkRecord): Device | "busy" | "none" => {
  const { settings, figures } = draft
  const taken = takenDevices(draft, record)
  const hosts = new Set<string | null>()
  for (const index of taken) hosts.add(deviceAt(draft, index)?.hostId ?? null)
  let best: Device | undefined
  let bestRank = Number.POSITIVE_INFINITY
  let busy = false
  for (const device of candidates(draft)) {
    if (taken.has(device.index)) continue
    const incoming = figures.get(device.index, BYTES_IN)
    const room = roomOf(draft, device) - incoming
    if (room < record.length || hasDeletion(draft, device, record)) continue
    const copies = figures.get(device.index, COPIES_IN)
    const full = copies > 0 && incoming + record.length > settings.copyBytesInMax
    if (copies >= settings.copiesInMax || full) {
      busy = true
      continue
    }
    const share = room / Math.max(1, device.capacity)
    const rank = (hosts.has(device.hostId) ? 1000 : 0) + copies - Math.min(0.999, share)
    if (rank < bestRank) {
      bestRank = rank
      best = device
    }
  }
  return best ?? (busy ? "busy" : "none")
}

/** Devices that hold the chunk in any state, or are about to. */
const takenDevices = (draft: Draft, record: ChunkRecord): ReadonlySet<number> => {
  const taken = new Set<number>()
  const add = (slot: number) => {
    const device = deviceOfSlot(draft, slot)
    if (device !== undefined) taken.add(device.index)
  }
  for (const slot of draft.sets.members(record.set)) add(slot)
  for (const copy of oddCopies(draft, record)) if (copy.version === record.version) add(copy.slot)
  for (const key of copiesUnderWay(draft, record)) taken.add(key.device)
  return taken
}

const hasDeletion = (draft: Draft, device: Device, record: ChunkRecord): boolean => {
  if (draft.deletions.size === 0) return false
  const start = { ...firstCopy(device.index), fileId: record.fileId, chunkId: record.chunkId }
  const next = draft.deletions.slice(1, start)[0]
  return (
    next !== undefined && next[0].device === device.index && compareChunks(next[0], record) === 0
  )
}
