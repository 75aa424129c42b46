/** How much of what is recorded was reported: what safe mode is judged by. */
import { chunksWithoutCopy } from "./chunks-without-copy.ts"
import { allDevices } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { FUTURE, FUTURE_BYTES } from "./figures.ts"

/** What safe mode is judged by. */
export interface Measure {
  readonly reported: number
  readonly needed: number
  readonly devices: number
  readonly futureCopies: number
  readonly futureBytes: number
}

/** Counts it. O(replica sets + devices). */
export const measure = (draft: Draft): Measure => {
  const reported = draft.chunks.size - chunksWithoutCopy(draft)
  const wanted = Math.ceil(draft.chunks.size * draft.settings.safeModeThreshold - 1e-9)
  const all = allDevices(draft)
  let futureCopies = 0
  let futureBytes = 0
  for (const device of all) {
    futureCopies += draft.figures.get(device.index, FUTURE)
    futureBytes += draft.figures.get(device.index, FUTURE_BYTES)
  }
  return {
    reported,
    needed: Math.max(0, wanted - reported),
    devices: all.filter((device) => device.serving).length,
    futureCopies,
    futureBytes
  }
}

/** Whether enough is known to leave safe mode, if it stays so for the extension. */
export const isSatisfied = (draft: Draft, { needed, devices, futureCopies }: Measure): boolean =>
  needed === 0 && devices >= draft.settings.devicesMin && futureCopies === 0

/**
 * Begins the extension anew when too little is known any more. What may take copies out of the map
 * calls it, as a device can be gone and back between two ticks. Costs a measure, and that only
 * during the extension.
 */
export const noteDip = (draft: Draft): void => {
  const { safeMode } = draft.scalars
  if (safeMode.phase !== "extension" || isSatisfied(draft, measure(draft))) return
  draft.scalars.safeMode = { ...safeMode, phase: "pending" }
}
