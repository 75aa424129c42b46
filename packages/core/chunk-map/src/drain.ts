/**
 * Draining: a device is removed when nothing needs it any more.
 *
 * A pass of the sweep counts the chunks below their goal that a draining device holds. Two passes
 * in a row without one, and no open lease on the device, and it is removed. With the remaining
 * devices unable to hold the goal the drain waits; it never removes a copy that is needed.
 */
import { allDevices } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { COMMITTED, LOAD_OUT } from "./figures.ts"
import { setMode } from "./modes.ts"

const CLEAN_PASSES = 2

/** Judges the draining devices after a pass of the sweep. */
export const passIsOver = (draft: Draft): void => {
  const { scalars } = draft
  const clean = new Map<number, number>()
  for (const device of allDevices(draft)) {
    if (device.desired !== "draining") continue
    const idle =
      draft.figures.get(device.index, COMMITTED) === 0 &&
      draft.figures.get(device.index, LOAD_OUT) === 0
    const needed = scalars.drainNeeded.get(device.index) ?? 0
    const settled = device.serving || device.liveness === "dead"
    if (!idle || needed > 0 || !settled) continue
    const passes = (scalars.drainClean.get(device.index) ?? 0) + 1
    if (passes < CLEAN_PASSES) clean.set(device.index, passes)
    else setMode(draft, { deviceId: device.deviceId, desired: "removed" })
  }
  scalars.drainClean = clean
  scalars.drainNeeded = new Map()
}
