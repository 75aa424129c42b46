/**
 * Who serves a device: the rules by which a host's word on it is taken.
 *
 * | the device is known | this host, this epoch | this host, newer epoch | another host |
 * |---|---|---|---|
 * | and heard lately | taken | reports anew | refused, alarm |
 * | not heard since the start, and expected | reports anew | reports anew | refused, alarm |
 * | dead, or expected no more | reports anew | reports anew | newer epoch: reports anew |
 *
 * A device's epoch rises with each opening of it, so of two copies of one directory at most one is
 * served: the other is refused while the first is live, and needs a newer epoch afterwards. Which
 * host served a device is durable, so that a restart of this service lets no copy win the race: for
 * `deadAfterMs` after it the host that served last is expected.
 */
import { forgetCommands, newDevice, putDevice } from "./devices.ts"
import type { Draft } from "./draft.ts"
import type { DeviceId, HostId } from "./identity.ts"
import type { Device } from "./model.ts"
import { abandonReport } from "./report.ts"

/** What a host says of a device that it serves. */
export interface DeviceClaim {
  readonly deviceId: DeviceId
  readonly epoch: number
  readonly capacity: number
  readonly used: number
  readonly available: number
}

/** Who claims a device. */
export interface Claimant {
  readonly hostId: HostId
  readonly rack: string
}

/** Takes a host's word on a device; a sentence says why not. */
export const claimDevice = (draft: Draft, host: Claimant, claim: DeviceClaim): string | null => {
  const { hostId, rack } = host
  const known = draft.devices.get(claim.deviceId)
  if (known === undefined) {
    if (draft.devices.size >= draft.settings.devicesMax) {
      return `${draft.settings.devicesMax} devices are known, which is the limit`
    }
    const device = newDevice(draft, claim.deviceId)
    hear(draft, { ...device, hostId, rack, epoch: claim.epoch }, claim)
    return null
  }
  const refusal = refuseClaim(draft, hostId, claim, known)
  if (refusal !== null) {
    // Only who serves it is still known of a device that was taken out (`forget-device.ts`).
    if (known.desired === "removed") putDevice(draft, { ...known, lastHeard: draft.now })
    return refusal
  }
  const sameSession = known.hostId === hostId && known.epoch === claim.epoch
  if (!sameSession) {
    abandonReport(draft, known)
    forgetCommands(draft, known)
    const gone = { serving: false, fresh: false, report: null, awaitedSince: draft.now }
    const session = { hostId, rack, epoch: claim.epoch, ...gone }
    hear(draft, { ...known, ...session }, claim)
    return null
  }
  hear(draft, { ...known, rack }, claim)
  return null
}

const refuseClaim = (
  draft: Draft,
  hostId: HostId,
  claim: DeviceClaim,
  known: Device
): string | null => {
  const { deviceId, epoch } = claim
  if (known.desired === "removed") return `device ${deviceId} was taken out by an operator`
  const live = known.liveness === "online" || known.liveness === "stale"
  const silence = draft.now - known.lastHeard
  const expected = known.liveness === "absent" && silence < draft.settings.deadAfterMs
  const elsewhere = known.hostId !== null && known.hostId !== hostId
  if (elsewhere && (live || expected)) {
    const how = live ? "is live on" : "is expected back on"
    const where = `device ${deviceId} ${how} host ${known.hostId}`
    const message = `${where}; host ${hostId} claims it too`
    draft.alarms.push({ kind: "device-claimed-twice", subject: deviceId, message })
    return message
  }
  if (epoch < known.epoch) return `device ${deviceId} was last opened under epoch ${known.epoch}`
  if (elsewhere && epoch === known.epoch) {
    const before = `device ${deviceId} was served by host ${known.hostId}`
    return `${before} under the same epoch; it may be a copy`
  }
  return null
}

const hear = (draft: Draft, device: Device, claim: DeviceClaim): void => {
  const returned = device.liveness === "dead" || device.liveness === "absent"
  putDevice(draft, {
    ...device,
    liveness: "online",
    serving: device.serving && !returned,
    fresh: device.fresh && !returned,
    slot: returned ? -1 : device.slot,
    lastHeard: draft.now,
    awaitedSince: returned ? draft.now : device.awaitedSince,
    capacity: claim.capacity,
    used: claim.used,
    available: claim.available
  })
}
