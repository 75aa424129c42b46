/**
 * Which devices a copy is made from and to.
 *
 * 1. A source holds the committed version, verified and reported; so does a copy in the end,
 *    because the target's word on length and checksum decides.
 * 2. A target has reported everything, is heard, is meant to be used, has room, holds no copy of
 *    the chunk in any state and is not about to delete one.
 * 3. Among targets the spread decides first (`spread.ts`), then the load, then free room; a chunk
 *    that has its goal is copied only to where its spread becomes better.
 * 4. Neither has more copies under way than its slots carry (`copy-load.ts`).
 */
import { copiesUnderWay } from "./copies.ts"
import { copyLoad, loadMax } from "./copy-load.ts"
import { candidates, deviceAt, deviceOfSlot, firstCopy } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { BYTES_IN, LOAD_IN, LOAD_OUT } from "./figures.ts"
import { compareChunks } from "./identity.ts"
import type { Device } from "./model.ts"
import { oddCopies } from "./odd.ts"
import type { ChunkRecord } from "./packed-tree.ts"
import { neighbours } from "./placement.ts"
import { roomOf } from "./room.ts"
import { LOCATED } from "./slots.ts"
import { countedHolders, distanceRank, improvesSpread } from "./spread.ts"

/** Whether a device could take one copy more, however small. */
export const anyTargetIsFree = (draft: Draft): boolean => {
  const limit = loadMax(draft.settings.copiesInMax, true)
  return candidates(draft).some((device) => draft.figures.get(device.index, LOAD_IN) < limit)
}

/** The holder to copy from, the least busy one; undefined while all are busy. */
export const chooseSource = (
  draft: Draft,
  record: ChunkRecord,
  extra: boolean
): Device | undefined => {
  const { figures, settings, slots } = draft
  const limit = loadMax(settings.copiesOutMax, extra) - copyLoad(settings, record.length)
  let best: Device | undefined
  let least = Number.POSITIVE_INFINITY
  for (const slot of draft.sets.members(record.set)) {
    if ((slots.flags[slot]! & LOCATED) === 0) continue
    const device = deviceOfSlot(draft, slot)
    if (device === undefined) continue
    const load = figures.get(device.index, LOAD_OUT)
    // A silent holder is asked only when the others have much to do.
    const rank = load + (device.liveness === "online" ? 0 : limit / 2)
    if (load <= limit && rank < least) {
      least = rank
      best = device
    }
  }
  return best
}

/**
 * The device to copy to, of those near the holders if one of them can take it (`placement.ts`);
 * "busy" while those that have room have no slot free.
 */
export const chooseTarget = (
  draft: Draft,
  record: ChunkRecord,
  extra: boolean
): Device | "busy" | "none" => {
  const company = companyOf(draft, record)
  const near = neighbours(draft, company)
  const chosen = chooseAmong(draft, record, { company, extra, among: near })
  const all = candidates(draft)
  if (chosen !== "none" || near === all) return chosen
  return chooseAmong(draft, record, { company, extra, among: all })
}

const chooseAmong = (
  draft: Draft,
  record: ChunkRecord,
  options: {
    readonly company: ReadonlyArray<Device>
    readonly extra: boolean
    readonly among: ReadonlyArray<Device>
  }
): Device | "busy" | "none" => {
  const { company, extra, among } = options
  const copy = newCopy(draft, record, extra)
  const mustImprove = company.length >= record.goal
  let best: Device | undefined
  let bestRank = Number.POSITIVE_INFINITY
  let busy = false
  for (const device of among) {
    if (mustImprove && !improvesSpread(device, company)) continue
    const fit = fitOf(draft, device, copy)
    if (fit === "never") continue
    if (fit === "busy") {
      busy = true
      continue
    }
    const load = draft.figures.get(device.index, LOAD_IN)
    const share = roomBesides(draft, device) / Math.max(1, device.capacity)
    const rank = distanceRank(device, company) * 100_000 + load - Math.min(0.999, share)
    if (rank < bestRank) {
      bestRank = rank
      best = device
    }
  }
  return best ?? (busy ? "busy" : "none")
}

/** Whether a device has room and a slot for a copy, and neither holds one nor is to delete one. */
export const mayTake = (draft: Draft, record: ChunkRecord, device: Device): boolean =>
  fitOf(draft, device, newCopy(draft, record, false)) === "now"

/** A copy of a chunk that some device is to take. */
interface NewCopy {
  readonly record: ChunkRecord
  /** Devices that hold the chunk, or are about to. */
  readonly taken: ReadonlySet<number>
  /** The load that a device may have before it takes this copy, too. */
  readonly loadBefore: number
}

const newCopy = (draft: Draft, record: ChunkRecord, extra: boolean): NewCopy => {
  const { settings } = draft
  const loadBefore = loadMax(settings.copiesInMax, extra) - copyLoad(settings, record.length)
  return { record, taken: takenDevices(draft, record), loadBefore }
}

/** The bytes that a device can still take besides the copies on their way to it. */
const roomBesides = (draft: Draft, device: Device): number =>
  roomOf(draft, device) - draft.figures.get(device.index, BYTES_IN)

/** Whether a device could take a copy now, or only its slots are in the way. */
const fitOf = (draft: Draft, device: Device, copy: NewCopy): "now" | "busy" | "never" => {
  const { loadBefore, record, taken } = copy
  if (taken.has(device.index)) return "never"
  if (roomBesides(draft, device) < record.length) return "never"
  if (hasDeletion(draft, device, record)) return "never"
  return draft.figures.get(device.index, LOAD_IN) > loadBefore ? "busy" : "now"
}

/** The devices whose copies will count: holders, and targets of copies under way. */
const companyOf = (draft: Draft, record: ChunkRecord): ReadonlyArray<Device> => {
  const targets = copiesUnderWay(draft, record).map(({ device }) => deviceAt(draft, device))
  const coming = targets.filter((device) => device !== undefined)
  return [...countedHolders(draft, record.set), ...coming]
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
