/**
 * The window of a tracker: one slot for each record from the oldest unfinished to the newest.
 *
 *     ordinals   head                                  next
 *                 |  open | finished | open | finished |
 *     slot      ordinal & mask, in parallel typed arrays
 *
 * 1. `next - head` is at most the capacity, a power of two that doubles up to the span limit.
 * 2. The slot of `head` is open whenever the window is not empty.
 * 3. Positions strictly increase with the ordinal.
 * 4. A slot costs 25 bytes beside its position; a record of more than 32 parts adds its bitset.
 */
import { addPart, hasPart, makePartSet, type PartSet, type PartSetView } from "./part-set.ts"

/** Nothing is in the slot. */
export const slotFree = 0
/** The slot's record has no disposition yet. */
export const slotOpen = 1
/** The slot's record is finished and waits for an older one. */
export const slotFinished = 2

/** The total of a record that was admitted whole and has not been split. */
export const totalUnknown = -1

const smallestCapacity = 64
const inlineParts = 32

/** Parallel arrays over the slots; the tracker alone changes them. */
export class Window {
  head = 0
  next = 0
  mask = smallestCapacity - 1
  positions: Array<bigint> = Array.from({ length: smallestCapacity }, () => 0n)
  states = new Uint8Array(smallestCapacity)
  bytes = new Uint32Array(smallestCapacity)
  seenAt = new Float64Array(smallestCapacity)
  totals = new Int32Array(smallestCapacity)
  remaining = new Int32Array(smallestCapacity)
  /** The finished parts of records with at most 32 of them. */
  inline = new Uint32Array(smallestCapacity)
  /** The finished parts of larger records, by slot. */
  readonly large = new Map<number, PartSet>()

  /** How many slots are in use. */
  get span(): number {
    return this.next - this.head
  }

  /** Appends a slot and answers its index; doubles the arrays when they are full. */
  push(position: bigint, state: number): number {
    if (this.span > this.mask) this.grow()
    const slot = this.next & this.mask
    this.next += 1
    this.positions[slot] = position
    this.states[slot] = state
    return slot
  }

  /** Frees the head's slot and moves on; answers its position. */
  shift(): bigint {
    const slot = this.head & this.mask
    const position = this.positions[slot] ?? 0n
    this.positions[slot] = 0n
    this.states[slot] = slotFree
    this.head += 1
    return position
  }

  /** Fixes the total of a slot's record, with nothing of it finished. */
  split(slot: number, total: number): void {
    this.totals[slot] = total
    this.remaining[slot] = total
    this.inline[slot] = 0
    if (total > inlineParts) this.large.set(slot, makePartSet(total))
  }

  /** Marks a part within the total; false when it was marked before. */
  markPart(slot: number, index: number): boolean {
    if ((this.totals[slot] ?? 0) > inlineParts) {
      const set = this.large.get(slot)
      if (set === undefined || !addPart(set, index)) return false
    } else {
      const before = this.inline[slot] ?? 0
      if ((before & (1 << index)) !== 0) return false
      this.inline[slot] = before | (1 << index)
    }
    this.remaining[slot] = (this.remaining[slot] ?? 0) - 1
    return true
  }

  /** Whether a part within the known total is marked. */
  hasPart(slot: number, index: number): boolean {
    if ((this.totals[slot] ?? 0) > inlineParts) {
      const set = this.large.get(slot)
      return set !== undefined && hasPart(set, index)
    }
    return ((this.inline[slot] ?? 0) & (1 << index)) !== 0
  }

  /** Forgets the parts of a slot whose record is finished. */
  dropParts(slot: number): void {
    if ((this.totals[slot] ?? 0) > inlineParts) this.large.delete(slot)
  }

  /** A view of a slot's finished parts; undefined when its total is unknown. */
  partsOf(slot: number): PartSetView | undefined {
    const total = this.totals[slot] ?? totalUnknown
    if (total === totalUnknown) return undefined
    if (total > inlineParts) return this.large.get(slot)
    const words = Uint32Array.of(this.inline[slot] ?? 0)
    return { total, count: total - (this.remaining[slot] ?? 0), words }
  }

  /**
   * The ordinal of a position, or -1 when the window does not hold it. O(1) when positions are
   * dense, O(log span) otherwise.
   */
  find(position: bigint): number {
    let low = this.head
    let high = this.next - 1
    if (low > high) return -1
    const first = this.positionAt(low)
    if (position < first || position > this.positionAt(high)) return -1
    const guess = low + Number(position - first)
    if (guess <= high && this.positionAt(guess) === position) return guess
    while (low <= high) {
      const middle = Math.floor((low + high) / 2)
      const found = this.positionAt(middle)
      if (found === position) return middle
      if (found < position) low = middle + 1
      else high = middle - 1
    }
    return -1
  }

  /** The position of an ordinal in the window. */
  positionAt(ordinal: number): bigint {
    return this.positions[ordinal & this.mask] ?? 0n
  }

  /** The state of an ordinal in the window. */
  stateAt(ordinal: number): number {
    return this.states[ordinal & this.mask] ?? slotFree
  }

  private grow(): void {
    const before = { mask: this.mask, arrays: this.arrays(), positions: this.positions }
    const capacity = (this.mask + 1) * 2
    this.mask = capacity - 1
    this.positions = Array.from({ length: capacity }, () => 0n)
    this.states = new Uint8Array(capacity)
    this.bytes = new Uint32Array(capacity)
    this.seenAt = new Float64Array(capacity)
    this.totals = new Int32Array(capacity)
    this.remaining = new Int32Array(capacity)
    this.inline = new Uint32Array(capacity)
    const owners = new Map(this.large)
    this.large.clear()
    const after = this.arrays()
    for (let ordinal = this.head; ordinal < this.next; ordinal++) {
      const source = ordinal & before.mask
      const target = ordinal & this.mask
      this.positions[target] = before.positions[source] ?? 0n
      for (let column = 0; column < after.length; column++) {
        const values = after[column]
        if (values !== undefined) values[target] = before.arrays[column]?.[source] ?? 0
      }
      const parts = owners.get(source)
      if (parts !== undefined) this.large.set(target, parts)
    }
  }

  private arrays(): ReadonlyArray<Uint8Array | Uint32Array | Int32Array | Float64Array> {
    return [this.states, this.bytes, this.seenAt, this.totals, this.remaining, this.inline]
  }
}
