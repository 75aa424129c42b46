/** How much a device can still take. */
import type { Draft } from "./draft.ts"
import { COMMITTED } from "./figures.ts"
import type { Device } from "./model.ts"

/** The bytes that a device can still take, beyond what is reserved and what stays free. */
export const roomOf = (draft: Draft, device: Device): number => {
  const { freeBytesMin, freeRatioMin } = draft.settings
  const free = Math.min(device.available, device.capacity - device.used)
  const kept = Math.max(freeBytesMin, Math.ceil(device.capacity * freeRatioMin))
  return free - kept - draft.figures.get(device.index, COMMITTED)
}

/** The share of a device that it can still take. */
export const freeShare = (draft: Draft, device: Device): number =>
  roomOf(draft, device) / Math.max(1, device.capacity)
