/**
 * Forgetting a device that was taken out: for one that never comes back. What it was told is
 * forgotten with it; should a device of this name appear again, it is a new one that must report.
 */
import * as Result from "effect/Result"
import { allDevices, forgetCommands } from "./devices.ts"
import type { Draft } from "./draft.ts"
import type { Device } from "./model.ts"
import { refuse, type Refusal } from "./refusal.ts"

/** Forgets a device; refused while it is in use, or while its chunk server still serves it. */
export const forgetDevice = (
  draft: Draft,
  command: { readonly deviceId: string }
): Result.Result<{ readonly forgotten: true }, Refusal> => {
  const device = draft.devices.get(command.deviceId)
  if (device === undefined) return refuse("unknown-device", `no device ${command.deviceId}`)
  const { deviceId, desired, lastHeard } = device
  if (desired !== "removed") {
    return refuse("device-in-use", `device ${deviceId} is ${desired}: drain it or take it offline`)
  }
  const wait = lastHeard + draft.settings.staleAfterMs - draft.now
  if (wait > 0) {
    const sentence = `device ${deviceId} is still served by host ${device.hostId}`
    return refuse("device-in-use", sentence, Math.ceil(wait))
  }
  forgetCommands(draft, device)
  draft.devices.delete(deviceId)
  draft.found.delete(deviceId)
  draft.candidates = null
  draft.places = null
  forgetHost(draft, device)
  draft.journal.push({ _tag: "DeviceForgotten", deviceId })
  return Result.succeed({ forgotten: true })
}

/** A host goes with its last device, when it is silent too. */
const forgetHost = (draft: Draft, { hostId }: Device): void => {
  const host = hostId === null ? undefined : draft.hosts.get(hostId)
  if (host === undefined || draft.now - host.lastHeard < draft.settings.deadAfterMs) return
  if (allDevices(draft).some((other) => other.hostId === host.hostId)) return
  draft.hosts.delete(host.hostId)
}
