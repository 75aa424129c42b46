/**
 * Full reports: everything that a device holds, in parts, under a lease.
 *
 * ```
 *   heartbeat ─ lease ─▶ part 0 ─▶ part 1 ─▶ ... ─▶ last ─▶ the new slot takes the old one's place
 * ```
 * 1. The copies of a report count for nothing before its last part; the ones of the old slot count
 *    as they did until then.
 * 2. A part is idempotent by (device, epoch, report, number); a gap is refused as `out-of-order`.
 * 3. At most `reportsMax` devices report at a time; a lease that is not used expires.
 * 4. What a complete report does not name is no longer held by the device.
 */
import * as Result from "effect/Result"
import { logDevice, putDevice } from "./devices.ts"
import type { Draft } from "./draft.ts"
import type { ChunkCopy } from "./identity.ts"
import { takeCopy } from "./merge.ts"
import type { Device, ReportProgress } from "./model.ts"
import { releaseUnreported } from "./quarantine.ts"
import { refuse, type Refusal } from "./refusal.ts"
import { noteDip } from "./safe-mode-measure.ts"
import { RETIRED } from "./slots.ts"

/** One part of a report. */
export interface ReportPart {
  readonly hostId: string
  readonly incarnation: number
  readonly deviceId: string
  readonly epoch: number
  readonly lease: number
  readonly reportId: string
  readonly part: number
  readonly last: boolean
  readonly copies: ReadonlyArray<ChunkCopy>
}

/** What a part made: how many copies it named, and whether the report is complete. */
export interface ReportAccepted {
  readonly accepted: number
  readonly complete: boolean
}

/** A lease for a full report that a device is asked for. */
export interface ReportWanted {
  readonly deviceId: string
  readonly lease: number
  readonly leaseMs: number
}

/** Gives a device a lease to report, or repeats the one it has; null while too many report. */
export const grantReport = (draft: Draft, device: Device): ReportWanted | null => {
  const { reportLeaseMs, reportsMax } = draft.settings
  const { deviceId, report } = device
  if (report !== null && report.epoch === device.epoch && report.leaseUntil > draft.now) {
    return { deviceId, lease: report.lease, leaseMs: report.leaseUntil - draft.now }
  }
  if (report !== null) abandonReport(draft, device)
  const present = draft.devices.get(deviceId) ?? device
  if (reportsUnderWay(draft) >= reportsMax) return null
  const granted: ReportProgress = {
    lease: ++draft.scalars.reportSequence,
    leaseUntil: draft.now + reportLeaseMs,
    epoch: device.epoch,
    reportId: null,
    slot: -1,
    nextPart: 0,
    copies: 0
  }
  putDevice(draft, { ...present, report: granted })
  return { deviceId, lease: granted.lease, leaseMs: reportLeaseMs }
}

const reportsUnderWay = (draft: Draft): number => {
  let count = 0
  for (const [, device] of draft.devices.slice(draft.settings.devicesMax)) {
    if (device.report !== null && device.report.leaseUntil > draft.now) count++
  }
  return count
}

/** Ends a report that did not come to its end; its copies were never counted. */
export const abandonReport = (draft: Draft, device: Device): void => {
  const { report } = device
  if (report === null) return
  if (report.slot >= 0) draft.slots.mark(report.slot, RETIRED)
  putDevice(draft, { ...device, report: null })
}

/** Takes one part of a report; O(copies x log chunks). */
export const takeReport = (
  draft: Draft,
  part: ReportPart
): Result.Result<ReportAccepted, Refusal> => {
  const device = draft.devices.get(part.deviceId)
  if (device === undefined) return refuse("unknown-device", `no device ${part.deviceId}`)
  if (device.hostId !== part.hostId) {
    return refuse("device-live-elsewhere", `host ${device.hostId} serves ${part.deviceId}`)
  }
  if (draft.hosts.get(part.hostId)?.incarnation !== part.incarnation) {
    return refuse("stale-incarnation", `host ${part.hostId} was started again since`)
  }
  if (part.epoch !== device.epoch) {
    return refuse("stale-epoch", `device ${part.deviceId} is at epoch ${device.epoch}`)
  }
  if (device.finishedReport === part.reportId) {
    return Result.succeed({ accepted: part.copies.length, complete: true })
  }
  const { report } = device
  if (report === null || report.lease !== part.lease || report.leaseUntil <= draft.now) {
    return refuse("lease-expired", "the lease to report is over; the next heartbeat brings another")
  }
  if (part.copies.length > draft.settings.reportPartMax) {
    return refuse("invalid-request", `a part names at most ${draft.settings.reportPartMax} copies`)
  }
  return takePart(draft, device, report, part)
}

const takePart = (
  draft: Draft,
  device: Device,
  report: ReportProgress,
  part: ReportPart
): Result.Result<ReportAccepted, Refusal> => {
  const begins = part.part === 0 && report.reportId !== part.reportId
  if (!begins) {
    if (report.reportId !== part.reportId || part.part > report.nextPart) {
      return refuse("out-of-order", `part ${report.nextPart} of report ${report.reportId} is next`)
    }
    if (part.part < report.nextPart) {
      return Result.succeed({ accepted: part.copies.length, complete: false })
    }
  }
  const slot = begins ? beginReport(draft, device, report) : report.slot
  for (const copy of part.copies) {
    takeCopy(draft, device, copy, { slot, reported: true, counted: false })
  }
  const progress: ReportProgress = {
    ...report,
    slot,
    reportId: part.reportId,
    nextPart: part.part + 1,
    copies: (begins ? 0 : report.copies) + part.copies.length,
    leaseUntil: draft.now + draft.settings.reportLeaseMs
  }
  putDevice(draft, { ...(draft.devices.get(device.deviceId) ?? device), report: progress })
  if (part.last) {
    finishReport(draft, { ...device, report: progress }, slot)
    noteDip(draft)
  }
  return Result.succeed({ accepted: part.copies.length, complete: part.last })
}

const beginReport = (draft: Draft, device: Device, report: ReportProgress): number => {
  if (report.slot >= 0) draft.slots.mark(report.slot, RETIRED)
  draft.figures.beginReport(device.index)
  const slot = draft.slots.add(device.index)
  putDevice(draft, { ...device, report: { ...report, slot } })
  return slot
}

const finishReport = (draft: Draft, device: Device, slot: number): void => {
  if (device.slot >= 0) draft.slots.mark(device.slot, RETIRED)
  draft.figures.finishReport(device.index)
  releaseUnreported(draft, device, slot)
  const known =
    device.epoch !== device.loggedEpoch || device.hostId !== device.loggedHost
      ? logDevice(draft, device)
      : device
  putDevice(draft, {
    ...known,
    slot,
    serving: true,
    fresh: true,
    liveness: "online",
    lastHeard: draft.now,
    report: null,
    finishedReport: device.report?.reportId ?? null,
    saidDigest: null,
    mapDigest: null
  })
}
