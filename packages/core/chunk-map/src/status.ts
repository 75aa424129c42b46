/** Status: counts over everything, and the devices a page at a time. */
import { hasNoCopy } from "./chunks-without-copy.ts"
import { eachCount } from "./counts.ts"
import { allDevices } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { COMMITTED, DELETIONS } from "./figures.ts"
import { openLeasesOn } from "./lease.ts"
import type { Device } from "./model.ts"
import { someoneIsExpected } from "./locate.ts"
import { findRecord } from "./packed-tree.ts"
import { viewSafeMode, type SafeModeView } from "./safe-mode.ts"
import type { RepairClass } from "./repair-class.ts"
import { COUNTED, countSlots, EXPECTED } from "./slots.ts"
import { countedHolders, isBadlySpread } from "./spread.ts"

/** Committed chunks by health; a chunk is counted once. */
export interface HealthCounts {
  readonly known: number
  readonly atGoal: number
  /** Of those at their goal, the ones that could stand on more hosts or racks. */
  readonly badlySpread: number
  readonly belowGoal: number
  readonly surplus: number
  readonly unknown: number
  readonly missing: number
  readonly corrupt: number
}

/** Counts over everything. */
export interface Status {
  readonly safeMode: SafeModeView
  readonly chunks: HealthCounts
  readonly devices: {
    readonly live: number
    readonly stale: number
    readonly dead: number
    readonly registering: number
  }
  readonly hosts: { readonly live: number; readonly dead: number }
  readonly pending: {
    readonly copies: number
    readonly deletions: number
    /** How long the oldest deletion has waited for its acknowledgement; 0 without any. */
    readonly oldestDeletionMs: number
    readonly reservations: number
    readonly quarantined: number
    readonly freed: number
  }
  /** Chunks that wait for a copy, by how urgent it is; at most `backlogMax` of each are known. */
  readonly repair: Readonly<Record<RepairClass, number>>
}

/** One device as the service sees it. */
export interface DeviceView {
  readonly device: Device
  readonly state: "registering" | "online" | "stale" | "dead"
  readonly url: string
  readonly committed: number
  readonly copies: number
  readonly pendingDeletions: number
  readonly lastHeardMs: number
  /** Chunks that needed a draining device in the latest pass; null when it is not draining. */
  readonly blocked: number | null
  /** Writes that were let in before it was closed and are not over; null for one that is open. */
  readonly openWrites: number | null
}

/** Committed chunks by health; O(distinct sets + odd copies looked at). */
export const countHealth = (draft: Draft): HealthCounts => {
  const { sets, slots } = draft
  const expected = someoneIsExpected(draft)
  const health = {
    atGoal: 0,
    badlySpread: 0,
    belowGoal: 0,
    surplus: 0,
    unknown: 0,
    missing: 0,
    corrupt: 0
  }
  eachCount(draft.counts, (set, goal, chunks) => {
    if (hasNoCopy(draft, set)) {
      const unknown = expected || countSlots(sets, slots, set, EXPECTED) > 0
      health[unknown ? "unknown" : "missing"] += chunks
      return
    }
    const counted = countSlots(sets, slots, set, COUNTED)
    if (counted === goal) {
      health.atGoal += chunks
      if (isBadlySpread(draft, countedHolders(draft, set))) health.badlySpread += chunks
    } else health[counted < goal ? "belowGoal" : "surplus"] += chunks
  })
  const corrupt = expected ? 0 : countCorrupt(draft)
  health.missing -= corrupt
  return { known: draft.chunks.size, ...health, corrupt }
}

const ODD_LOOKED_AT = 100_000

/** Chunks that only bad copies are left of. */
const countCorrupt = (draft: Draft): number => {
  let count = 0
  for (const [key, copies] of draft.odd.slice(ODD_LOOKED_AT)) {
    if (!copies.some((copy) => copy.kind === "corrupt")) continue
    const record = findRecord(draft.chunks, key)
    if (record === undefined) continue
    const bad = copies.some((copy) => copy.kind === "corrupt" && copy.version === record.version)
    if (bad && hasNoCopy(draft, record.set)) count++
  }
  return count
}

/** What a device is called in answers. */
export const stateOf = (device: Device): DeviceView["state"] => {
  if (device.liveness === "dead" || device.desired === "removed") return "dead"
  if (device.liveness === "absent" || !device.serving) return "registering"
  return device.liveness
}

/** Counts over everything. */
export const status = (draft: Draft): Status => {
  const devices = { live: 0, stale: 0, dead: 0, registering: 0 }
  for (const device of allDevices(draft)) {
    const state = stateOf(device)
    devices[state === "online" ? "live" : state]++
  }
  const hosts = { live: 0, dead: 0 }
  for (const [, host] of draft.hosts.slice(draft.hosts.size)) {
    const live = draft.now - host.lastHeard < draft.settings.deadAfterMs
    hosts[live ? "live" : "dead"]++
  }
  return {
    safeMode: viewSafeMode(draft),
    chunks: countHealth(draft),
    devices,
    hosts,
    pending: {
      copies: draft.copyJobs.size,
      deletions: draft.deletions.size,
      oldestDeletionMs: oldestDeletionMs(draft),
      reservations: draft.leases.size,
      quarantined: draft.quarantine.size + draft.scalars.quarantineOverflow,
      freed: draft.freed.size
    },
    repair: {
      "only-copy": draft.onlyCopy.size,
      "very-low": draft.veryLow.size,
      low: draft.low.size,
      "badly-spread": draft.badlySpread.size
    }
  }
}

const DELETIONS_LOOKED_AT = 100_000

const oldestDeletionMs = (draft: Draft): number => {
  let oldest = draft.now
  for (const [, { since }] of draft.deletions.slice(DELETIONS_LOOKED_AT)) {
    if (since < oldest) oldest = since
  }
  return draft.now - oldest
}

/** A page of the devices in order of their ids, strictly after one. */
export const listDevices = (
  draft: Draft,
  page: { readonly after: string | null; readonly limit: number }
): { readonly devices: ReadonlyArray<DeviceView>; readonly more: boolean } => {
  const start = page.after ?? ""
  const some = draft.devices
    .slice(page.limit + 2, start)
    .filter(([deviceId]) => deviceId !== page.after)
  const devices = some.slice(0, page.limit).map(([, device]) => viewDevice(draft, device))
  return { devices, more: some.length > page.limit }
}

const viewDevice = (draft: Draft, device: Device): DeviceView => ({
  device,
  state: stateOf(device),
  url: device.hostId === null ? "" : (draft.hosts.get(device.hostId)?.url ?? ""),
  committed: draft.figures.get(device.index, COMMITTED),
  copies: draft.figures.digest(device.index).count,
  pendingDeletions: draft.figures.get(device.index, DELETIONS),
  lastHeardMs: draft.now - device.lastHeard,
  blocked:
    device.desired === "draining" ? (draft.scalars.drainBlocked.get(device.index) ?? null) : null,
  openWrites: device.desired === "normal" ? null : openLeasesOn(draft, device).length
})
