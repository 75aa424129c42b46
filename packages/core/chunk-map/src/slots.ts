/**
 * Slots: one registration of a device each, and what the copies under it count for.
 *
 * | flag | the copies of the slot |
 * |---|---|
 * | located | may be read: reported under the present epoch, device not dead or removed |
 * | online | come before those of a silent device in an answer |
 * | counted | count towards the goal: located and not on a draining device |
 * | assured | count where a deletion is decided: counted, online, nothing doubtful in the device |
 * | expected | are not confirmed, and may come back |
 * | retired | none: the slot is gone and the sweep takes it out of the sets |
 */
import type { Slots } from "./model.ts"
import type { ReplicaSets } from "./replica-sets.ts"

/** Copies under the slot may be read. */
export const LOCATED = 1
/** The device was heard a moment ago. */
export const ONLINE = 2
/** Copies under the slot count towards the goal. */
export const COUNTED = 4
/** Copies under the slot count where a deletion is decided. */
export const ASSURED = 8
/** Copies under the slot are not confirmed and may come back. */
export const EXPECTED = 16
/** The slot is gone. */
export const RETIRED = 32

/** No slots. */
export const noSlots: Slots = { devices: [], flags: new Uint8Array(0) }

/** How many slots of a set have all of the given flags. */
export const countSlots = (sets: ReplicaSets, slots: Slots, set: number, flags: number): number => {
  let count = 0
  for (const slot of sets.members(set)) if ((slots.flags[slot]! & flags) === flags) count++
  return count
}

/** A scoped batch of edits of the slots. */
export class SlotsEdit implements Slots {
  devices: ReadonlyArray<number>
  flags: Uint8Array
  #owned = false
  readonly #base: Slots

  constructor(base: Slots) {
    this.#base = base
    this.devices = base.devices
    this.flags = base.flags
  }

  /** A new slot of a device, counting for nothing. */
  add(device: number): number {
    const slot = this.devices.length
    this.devices = [...this.devices, device]
    if (slot >= this.flags.length) {
      const flags = new Uint8Array(Math.max(16, this.flags.length * 2))
      flags.set(this.flags)
      this.flags = flags
      this.#owned = true
    }
    this.mark(slot, 0)
    return slot
  }

  /** Says what the copies of a slot count for. */
  mark(slot: number, flags: number): void {
    if (!this.#owned) {
      this.flags = this.flags.slice()
      this.#owned = true
    }
    this.flags[slot] = flags
  }

  /** The edited slots. */
  seal(): Slots {
    if (!this.#owned) return this.#base
    return { devices: this.devices, flags: this.flags }
  }
}
