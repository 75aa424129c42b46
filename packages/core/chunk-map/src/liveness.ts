/**
 * Liveness by silence, in monotonic time.
 *
 * 1. Silence up to `staleAfterMs` is normal; after that a device takes no new chunk and decides no
 *    deletion; after `deadAfterMs` it is dead and must report again before its copies count.
 * 2. No device dies in safe mode.
 * 3. A pause of this service (no tick for `stallMs`) is not the silence of the devices: each gets a
 *    new term.
 * 4. When more than `massDeathRatio` of the devices die within `deadAfterMs`, repair stops with an
 *    alarm: the fault is more likely between them and this service. It goes on when they are back.
 */
import { allDevices, forgetCommands, putDevice } from "./devices.ts"
import type { Draft } from "./draft.ts"
import type { Device } from "./model.ts"
import { abandonReport } from "./report.ts"
import { inSafeMode } from "./safe-mode-view.ts"
import { RETIRED } from "./slots.ts"

const MASS_DEATH_DEVICES_MIN = 4

/** Judges the silence of every device. */
export const judgeSilence = (draft: Draft): void => {
  const { scalars, settings, now } = draft
  if (scalars.lastTick >= 0 && now - scalars.lastTick > settings.stallMs) {
    scalars.graceUntil = now + settings.staleAfterMs
    const pause = now - scalars.lastTick
    const term = `no device is judged for ${settings.staleAfterMs} ms`
    const message = `this service paused for ${pause} ms; ${term}`
    draft.alarms.push({ kind: "stalled", subject: "metadata", message })
    for (const device of allDevices(draft)) {
      if (device.liveness !== "dead") {
        putDevice(draft, { ...device, lastHeard: Math.min(now, device.lastHeard + pause) })
      }
    }
  }
  scalars.lastTick = now
  if (now < scalars.graceUntil) return
  for (const device of allDevices(draft)) judgeDevice(draft, device)
  judgeMassDeath(draft)
}

const judgeDevice = (draft: Draft, device: Device): void => {
  const { settings, now } = draft
  if (device.report !== null && device.report.leaseUntil <= now) abandonReport(draft, device)
  const present = draft.devices.get(device.deviceId) ?? device
  const silence = now - Math.max(present.lastHeard, draft.scalars.safeMode.leftAt)
  if (present.liveness === "online" && now - present.lastHeard >= settings.staleAfterMs) {
    putDevice(draft, { ...present, liveness: "stale" })
  }
  if (present.liveness === "dead" || present.desired === "removed") return
  if (!inSafeMode(draft) && silence >= settings.deadAfterMs) bury(draft, present)
}

/** Takes a device's copies out of the map at once; it must report before they count again. */
export const takeOut = (draft: Draft, device: Device, diedAt: number): void => {
  abandonReport(draft, device)
  forgetCommands(draft, device)
  if (device.slot >= 0) draft.slots.mark(device.slot, RETIRED)
  draft.figures.forgetHeld(device.index)
  const gone = { liveness: "dead", serving: false, fresh: false, report: null, slot: -1 } as const
  putDevice(draft, { ...device, ...gone, diedAt })
}

const bury = (draft: Draft, device: Device): void => {
  takeOut(draft, device, draft.now)
  const message = `device ${device.deviceId} was not heard for ${draft.now - device.lastHeard} ms`
  draft.alarms.push({ kind: "device-dead", subject: device.deviceId, message })
}

const judgeMassDeath = (draft: Draft): void => {
  const { scalars, settings, now } = draft
  const known = allDevices(draft).filter((device) => device.desired !== "removed")
  const lately = known.filter(
    (device) =>
      device.liveness === "dead" &&
      device.diedAt >= 0 &&
      now - device.diedAt <= settings.deadAfterMs
  )
  const dead = known.filter((device) => device.liveness === "dead")
  const limit = known.length * settings.massDeathRatio
  if (!scalars.repairStopped) {
    if (known.length >= MASS_DEATH_DEVICES_MIN && lately.length > limit) {
      scalars.repairStopped = true
      const deaths = `${lately.length} of ${known.length} devices died`
      const message = `${deaths} within ${settings.deadAfterMs} ms; repair stops`
      draft.alarms.push({ kind: "mass-death", subject: "devices", message })
    }
  } else if (dead.length <= limit) scalars.repairStopped = false
}
