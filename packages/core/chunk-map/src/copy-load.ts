/**
 * What a copy takes of the slots of its devices, in sixteenths of a slot.
 *
 * A device has slots for `copiesInMax` copies in and `copiesOutMax` out. A copy of `copySlotBytes`
 * or more takes a whole slot; smaller ones share it, sixteen to a slot at most, because a disk is
 * kept busy by bytes and a network by round trips.
 */
import type { Settings } from "./settings.ts"

/** Sixteenths in a slot: as many small copies share it. */
export const SLOT = 16

/** The sixteenths of a slot that a copy takes. */
export const copyLoad = ({ copySlotBytes }: Settings, length: number): number =>
  Math.min(SLOT, Math.max(1, Math.ceil((length * SLOT) / copySlotBytes)))

/** The sixteenths that a device may have under way; `extra` for those that may take twice as much. */
export const loadMax = (copiesMax: number, extra: boolean): number =>
  copiesMax * SLOT * (extra ? 2 : 1)
