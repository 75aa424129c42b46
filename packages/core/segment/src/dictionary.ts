/** The dictionary of byte strings that a segment's records share. */

/** Slots of a new table; it doubles when three quarters are taken. */
const slotsAtStart = 256

const nothing = new Uint8Array(0)

const hashBytes = (bytes: Uint8Array): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < bytes.length; index++) {
    hash = Math.imul(hash ^ bytes[index]!, 0x01000193)
  }
  return (hash ^ (hash >>> 15)) >>> 0
}

const sameBytes = (left: Uint8Array, right: Uint8Array): boolean => {
  if (left.length !== right.length) return false
  for (let index = 0; index < left.length; index++) {
    if (left[index] !== right[index]) return false
  }
  return true
}

/**
 * Numbers byte strings in the order of their first appearance.
 *
 * An open-addressing table over the bytes themselves: no text is made of them. `reference` is
 * O(length) and keeps a copy of a new entry. Numbers start at 1; 0 says that the table is full.
 */
export class ByteDictionary {
  readonly entries: Array<Uint8Array> = []
  readonly #limits: { readonly entriesMax: number; readonly entryBytesMax: number }
  #slots = new Uint32Array(slotsAtStart)
  /** What was asked for last: in most streams the next record has the same subject. */
  #last: Uint8Array = nothing
  #lastNumber = 0

  constructor(limits: { readonly entriesMax: number; readonly entryBytesMax: number }) {
    this.#limits = limits
  }

  /** The number of an entry that is equal to `bytes`, added when there is room; else 0. */
  reference(bytes: Uint8Array): number {
    if (this.#lastNumber !== 0 && sameBytes(this.#last, bytes)) return this.#lastNumber
    if (bytes.length > this.#limits.entryBytesMax) return 0
    const mask = this.#slots.length - 1
    let slot = hashBytes(bytes) & mask
    for (;;) {
      const taken = this.#slots[slot]!
      if (taken === 0) break
      const entry = this.entries[taken - 1]!
      if (sameBytes(entry, bytes)) return this.#remember(entry, taken)
      slot = (slot + 1) & mask
    }
    if (this.entries.length >= this.#limits.entriesMax) return 0
    const added = new Uint8Array(bytes)
    this.entries.push(added)
    this.#slots[slot] = this.entries.length
    if (this.entries.length * 4 > this.#slots.length * 3) this.#grow()
    return this.#remember(added, this.entries.length)
  }

  #remember(entry: Uint8Array, number: number): number {
    this.#last = entry
    this.#lastNumber = number
    return number
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * 2)
    const mask = slots.length - 1
    for (let index = 0; index < this.entries.length; index++) {
      let slot = hashBytes(this.entries[index]!) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = index + 1
    }
    this.#slots = slots
  }
}
