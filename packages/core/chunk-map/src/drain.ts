/**
 * Draining: a device is removed when nothing needs it any more.
 *
 * | what needs it | until |
 * |---|---|
 * | a chunk with fewer assured copies than its goal without it | it has been copied |
 * | a copy that is corrupt or old, of a chunk that has no other | the chunk is well, or is freed |
 * | an open lease | it is published or over |
 * | a copy that is read from it now | it is done |
 * | it is dead, and of a chunk no copy is left: it may hold one | it is back, or the chunk is freed |
 *
 * A pass of the sweep counts the first; two passes in a row without any of these, and the device is
 * removed. A holder that is silent assures nothing: it may be dead. Copies on it that are being
 * deleted need nothing. With the other devices unable to hold the goal the drain waits; it never
 * removes a copy that is needed. `drainBlockers` names each of them with its reason.
 */
import * as Result from "effect/Result"
import { reasonOf, describeReason, type ChunkReason } from "./chunk-reason.ts"
import { walkChunks } from "./chunk-walk.ts"
import { chunksWithoutCopy, hasNoCopy } from "./chunks-without-copy.ts"
import { allDevices } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { LOAD_OUT } from "./figures.ts"
import { compareVersions, compareChunks, type ChunkKey, type ChunkVersion } from "./identity.ts"
import { openLeasesOn } from "./lease.ts"
import type { Device } from "./model.ts"
import { setMode } from "./modes.ts"
import { findRecord } from "./packed-tree.ts"
import { refuse, type Refusal } from "./refusal.ts"
import { ASSURED, countSlots } from "./slots.ts"

const CLEAN_PASSES = 2

/** Odd copies that are looked at; with more of them drains wait. */
const ODD_LOOKED_AT = 100_000

/** Judges the draining devices after a pass of the sweep. */
export const passIsOver = (draft: Draft): void => {
  const { scalars } = draft
  const clean = new Map<number, number>()
  const blocked = new Map<number, number>()
  for (const device of allDevices(draft)) {
    if (device.desired !== "draining") continue
    const isDead = device.liveness === "dead"
    const needed = isDead ? chunksWithoutCopy(draft) : (scalars.drainNeeded.get(device.index) ?? 0)
    blocked.set(device.index, needed)
    const settled = device.serving || isDead
    if (!settled || needed > 0 || isBusy(draft, device)) continue
    const passes = (scalars.drainClean.get(device.index) ?? 0) + 1
    if (passes < CLEAN_PASSES) clean.set(device.index, passes)
    else setMode(draft, { deviceId: device.deviceId, desired: "removed" })
  }
  scalars.drainClean = clean
  scalars.drainBlocked = blocked
  scalars.drainNeeded = new Map()
}

const isBusy = (draft: Draft, device: Device): boolean =>
  draft.figures.get(device.index, LOAD_OUT) > 0 ||
  openLeasesOn(draft, device).length > 0 ||
  draft.odd.size > ODD_LOOKED_AT ||
  lastCopies(draft, device).length > 0

/** Copies of the device that count for nothing, of chunks that have no other copy. */
const lastCopies = (draft: Draft, device: Device): ReadonlyArray<ChunkVersion> => {
  const last: Array<ChunkVersion> = []
  if (device.slot < 0) return last
  for (const [key, copies] of draft.odd.slice(ODD_LOOKED_AT)) {
    const own = copies.find((copy) => copy.slot === device.slot && copy.kind !== "uncommitted")
    const record = own === undefined ? undefined : findRecord(draft.chunks, key)
    if (own === undefined || record === undefined) continue
    if (hasNoCopy(draft, record.set)) last.push({ ...key, version: own.version })
  }
  return last
}

/** Why a chunk keeps a device from being removed. */
export type BlockReason = ChunkReason | "being-written" | "last-copy" | "silent-holder"

/** A chunk that keeps a device from being removed. */
export interface Blocker extends ChunkVersion {
  readonly reason: BlockReason
  readonly sentence: string
}

/** Asks what keeps a draining device; `after` is null for the first page. */
export interface BlockersWanted {
  readonly deviceId: string
  readonly after: ChunkKey | null
  readonly limit: number
}

/** A page of what keeps a device, in order of the chunks; `next` is null at the end. */
export interface Blockers {
  readonly blockers: ReadonlyArray<Blocker>
  readonly next: ChunkKey | null
}

const asBlocker =
  (reason: Exclude<BlockReason, ChunkReason>, sentence: string) =>
  ({ fileId, chunkId, version }: ChunkVersion): Blocker => ({
    fileId,
    chunkId,
    version,
    reason,
    sentence
  })

const waiting = asBlocker("silent-holder", "a holder is silent, so its copy is not counted on")
const writing = asBlocker("being-written", "a lease to write it is open")
const last = asBlocker("last-copy", "the copy is corrupt or old, and there is no other")

/** Names what keeps a device from being removed. O(chunks looked at + leases + odd copies). */
export const drainBlockers = (
  draft: Draft,
  wanted: BlockersWanted
): Result.Result<Blockers, Refusal> => {
  const { after, limit } = wanted
  const device = draft.devices.get(wanted.deviceId)
  if (device === undefined) return refuse("unknown-device", `no device ${wanted.deviceId}`)
  const { found, next } = walkChunks(draft, {
    after,
    limit,
    mayBe: (set, goal) =>
      device.liveness === "dead"
        ? hasNoCopy(draft, set)
        : draft.sets.has(set, device.slot) &&
          countSlots(draft.sets, draft.slots, set, ASSURED) < goal,
    pick: (record): Blocker => {
      const { fileId, chunkId, version } = record
      const reason = reasonOf(draft, record)
      if (reason === undefined || reason === "surplus") return waiting(record)
      return { fileId, chunkId, version, reason, sentence: describeReason(reason) }
    }
  })
  const others = [
    ...openLeasesOn(draft, device).map(writing),
    ...lastCopies(draft, device).map(last)
  ].filter(
    (one) =>
      (after === null || compareChunks(one, after) > 0) &&
      (next === null || compareChunks(one, next) <= 0)
  )
  return Result.succeed(cut([...found, ...others].sort(compareVersions), limit, next))
}

/** The first ones, without tearing what is said of one chunk apart. */
const cut = (all: ReadonlyArray<Blocker>, limit: number, next: ChunkKey | null): Blockers => {
  const end = all.findIndex(
    (one, index) => index >= limit && compareChunks(one, all[index - 1]!) > 0
  )
  if (end < 0) return { blockers: all, next }
  const { fileId, chunkId } = all[end - 1]!
  return { blockers: all.slice(0, end), next: { fileId, chunkId } }
}
