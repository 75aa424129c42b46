/** Looking into the map: one chunk with its copies, chunks with a reason, hosts. */
import { describeReason, reasonOf, type ChunkReason } from "./chunk-reason.ts"
import { walkChunks, type Walked } from "./chunk-walk.ts"
import { copiesUnderWay } from "./copies.ts"
import { allDevices, deviceAt, firstCopy } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { compareChunks, type ChunkKey, type DeviceId, type HostId } from "./identity.ts"
import { healthOf, type ChunkHealth } from "./locate.ts"
import type { Device, Host } from "./model.ts"
import { oddCopies } from "./odd.ts"
import { findRecord, type ChunkRecord } from "./packed-tree.ts"
import { COUNTED, countSlots, LOCATED, RETIRED } from "./slots.ts"
import { countedHolders, isBadlySpread } from "./spread.ts"

/**
 * What a copy is worth: `valid` is read and counted, `stale`, `future` and `corrupt` are odd,
 * `writing` is under a lease, `copying` is on its way, `deleting` is told to go or about to be,
 * `unknown` is in quarantine or not confirmed since its device started anew.
 */
export type CopyState =
  | "valid"
  | "stale"
  | "future"
  | "corrupt"
  | "writing"
  | "copying"
  | "deleting"
  | "unknown"

/** One copy of a chunk on a device. */
export interface CopyView {
  readonly deviceId: DeviceId
  readonly hostId: HostId | null
  readonly version: number
  readonly state: CopyState
}

/** A chunk with all that is known of its copies; `record` is undefined when none is committed. */
export interface ChunkView {
  readonly record: ChunkRecord | undefined
  readonly health: ChunkHealth | undefined
  readonly reason: ChunkReason | undefined
  /** The reason in words; empty when there is none. */
  readonly sentence: string
  readonly copies: ReadonlyArray<CopyView>
}

/** Looks at one chunk. O(devices + leases). */
export const inspectChunk = (draft: Draft, key: ChunkKey): ChunkView => {
  const record = findRecord(draft.chunks, key)
  const reason = record === undefined ? undefined : reasonOf(draft, record)
  return {
    record,
    health: record === undefined ? undefined : healthOf(draft, record),
    reason,
    sentence: reason === undefined ? "" : describeReason(reason),
    copies: copiesOf(draft, key, record)
  }
}

const copiesOf = (
  draft: Draft,
  key: ChunkKey,
  record: ChunkRecord | undefined
): ReadonlyArray<CopyView> => {
  const found = new Map<string, CopyView>()
  const add = (device: Device | undefined, version: number, state: CopyState) => {
    if (device === undefined) return
    const { deviceId, hostId } = device
    const name = `${deviceId} ${version}`
    if (!found.has(name)) found.set(name, { deviceId, hostId, version, state })
  }
  const ownerOf = (slot: number) => deviceAt(draft, draft.slots.devices[slot] ?? -1)
  for (const slot of record === undefined ? [] : draft.sets.members(record.set)) {
    const flags = draft.slots.flags[slot]!
    if ((flags & RETIRED) !== 0) continue
    add(ownerOf(slot), record!.version, (flags & LOCATED) === 0 ? "unknown" : "valid")
  }
  for (const { kind, slot, version } of oddCopies(draft, key)) {
    if ((draft.slots.flags[slot]! & RETIRED) !== 0) continue
    add(ownerOf(slot), version, kind === "uncommitted" ? "writing" : kind)
  }
  for (const { device, commandId } of copiesUnderWay(draft, key)) {
    const job = draft.copyJobs.get({ device, commandId })
    if (job !== undefined) add(deviceAt(draft, device), job.version, "copying")
  }
  for (const device of allDevices(draft)) addNamed(draft, device, key, add)
  for (const [, lease] of draft.leases.slice(draft.leases.size)) {
    if (compareChunks(lease, key) !== 0) continue
    for (const index of lease.devices) add(deviceAt(draft, index), lease.version, "writing")
  }
  return [...found.values()].sort(
    (left, right) => right.version - left.version || (left.deviceId < right.deviceId ? -1 : 1)
  )
}

/** Versions of one chunk on one device that are shown as deleting or unknown. */
const VERSIONS_SHOWN = 20

const addNamed = (
  draft: Draft,
  device: Device,
  key: ChunkKey,
  add: (device: Device, version: number, state: CopyState) => void
): void => {
  const start = { ...firstCopy(device.index), fileId: key.fileId, chunkId: key.chunkId }
  const isOwn = (copy: ChunkKey & { readonly device: number }) =>
    copy.device === device.index && compareChunks(copy, key) === 0
  for (const [copy] of draft.deletions.slice(VERSIONS_SHOWN, start)) {
    if (isOwn(copy)) add(device, copy.version, "deleting")
  }
  for (const [copy] of draft.quarantine.slice(VERSIONS_SHOWN, start)) {
    if (isOwn(copy)) add(device, copy.version, "unknown")
  }
}

/** A chunk that is not held as it is meant to be. */
export interface TroubledChunk {
  readonly record: ChunkRecord
  readonly copies: number
  readonly reason: ChunkReason
  readonly sentence: string
}

/** Asks for chunks with a reason, or with one of them. */
export interface TroubledWanted {
  readonly after: ChunkKey | null
  readonly limit: number
  readonly reason: string | null
}

/** Finds chunks that are not held as they are meant to be, in order. O(chunks looked at). */
export const troubledChunks = (draft: Draft, wanted: TroubledWanted): Walked<TroubledChunk> =>
  walkChunks(draft, {
    after: wanted.after,
    limit: wanted.limit,
    mayBe: (set, goal) =>
      countSlots(draft.sets, draft.slots, set, COUNTED) !== goal ||
      isBadlySpread(draft, countedHolders(draft, set)),
    pick: (record) => {
      const reason = reasonOf(draft, record)
      if (reason === undefined || (wanted.reason ?? reason) !== reason) return undefined
      const copies = countSlots(draft.sets, draft.slots, record.set, LOCATED)
      return { record, copies, reason, sentence: describeReason(reason) }
    }
  })

/** One host as the service sees it. */
export interface HostView {
  readonly host: Host
  readonly live: boolean
  readonly lastHeardMs: number
  readonly devices: ReadonlyArray<Device>
  readonly copies: number
}

/** A page of the hosts in order of their ids, strictly after one. */
export const listHosts = (
  draft: Draft,
  page: { readonly after: string | null; readonly limit: number }
): { readonly hosts: ReadonlyArray<HostView>; readonly more: boolean } => {
  const some = draft.hosts
    .slice(page.limit + 2, page.after ?? "")
    .filter(([hostId]) => hostId !== page.after)
  const all = allDevices(draft)
  const hosts = some.slice(0, page.limit).map(([hostId, host]) => {
    const devices = all.filter((device) => device.hostId === hostId)
    const lastHeardMs = draft.now - host.lastHeard
    const live = lastHeardMs < draft.settings.deadAfterMs
    const copies = devices.reduce((sum, { index }) => sum + draft.figures.digest(index).count, 0)
    return { host, live, lastHeardMs, devices, copies }
  })
  return { hosts, more: some.length > page.limit }
}
