/**
 * Which item may be worked on next, under an ordering.
 *
 *     key a   [ 1 ][ 4 ][ 9 ]     one item of a lane at a time, in order
 *     key b   [ 2 ][ 3 ]          lanes side by side
 *     no key  [ 5 ][ 6 ][ 7 ]     no order at all
 *
 * 1. Two items of one key are never worked on at once, and never out of their order: a lane whose
 *    item failed waits for that item, until it comes again or is laid aside.
 * 2. A lane that waits holds no other lane up.
 * 3. An idle lane takes no memory.
 */
import { Deque } from "./deque.ts"

/** An item as the lanes need to know it; without a key it is in no order. */
export interface LaneItem {
  readonly key: string | undefined
  /** The record it is of, and its index there; a lane waits for both after a failure. */
  readonly ordinal: number
  readonly index: number
  /** The part that it is accounted under, where that is not its index. */
  readonly part?: { readonly index: number } | undefined
}

/** The number under which an item's record knows it. */
const partOf = ({ index, part }: LaneItem): number => part?.index ?? index

const isSame = (one: LaneItem, other: LaneItem): boolean =>
  one.ordinal === other.ordinal && one.index === other.index && partOf(one) === partOf(other)

interface Lane<T> {
  readonly key: string
  readonly items: Deque<T>
  isBusy: boolean
  waitsFor: T | undefined
}

/** Queued items, by key; synchronous, bounded by whoever adds. */
export class Lanes<T extends LaneItem> {
  private readonly lanes = new Map<string, Lane<T>>()
  private readonly ready = new Deque<Lane<T>>()
  private readonly loose = new Deque<T>()
  private readonly waiting = new Set<Lane<T>>()
  /** How many items are queued. */
  size = 0

  /** Queues an item; one that its lane waits for goes in front. */
  add(item: T): void {
    this.size += 1
    const { key } = item
    if (key === undefined) {
      this.loose.push(item)
      return
    }
    const lane = this.lanes.get(key) ?? this.open(key)
    if (lane.waitsFor !== undefined && isSame(lane.waitsFor, item)) {
      lane.items.unshift(item)
      this.stopWaiting(lane)
      return
    }
    lane.items.push(item)
    if (lane.items.size === 1) this.offer(lane)
  }

  /** Whether an item may be worked on now. */
  get hasNext(): boolean {
    return this.ready.size > 0 || this.loose.size > 0
  }

  /** Takes an item that may be worked on now; none when all must wait. */
  take(): T | undefined {
    const lane = this.ready.shift()
    if (lane === undefined) {
      const loose = this.loose.shift()
      if (loose !== undefined) this.size -= 1
      return loose
    }
    lane.isBusy = true
    this.size -= 1
    return lane.items.shift()
  }

  /** An item is done: its lane goes on. */
  succeed({ key }: T): void {
    const lane = key === undefined ? undefined : this.lanes.get(key)
    if (key === undefined || lane === undefined) return
    lane.isBusy = false
    if (lane.items.size > 0) this.offer(lane)
    else this.lanes.delete(key)
  }

  /** An item has failed: its lane waits for it. */
  fail(item: T): void {
    const lane = item.key === undefined ? undefined : this.lanes.get(item.key)
    if (lane === undefined) return
    lane.isBusy = false
    lane.waitsFor = item
    this.waiting.add(lane)
  }

  /** A record, or one part of it, will not come again: lanes go on. O(lanes that wait). */
  giveUp(ordinal: number, part?: number): void {
    for (const lane of this.waiting) {
      const awaited = lane.waitsFor
      if (awaited?.ordinal !== ordinal) continue
      if (part === undefined || part === partOf(awaited)) this.stopWaiting(lane)
    }
  }

  private open(key: string): Lane<T> {
    const lane: Lane<T> = { key, items: new Deque(), isBusy: false, waitsFor: undefined }
    this.lanes.set(key, lane)
    return lane
  }

  private stopWaiting(lane: Lane<T>): void {
    this.waiting.delete(lane)
    lane.waitsFor = undefined
    if (lane.items.size > 0) this.offer(lane)
    else this.lanes.delete(lane.key)
  }

  private offer(lane: Lane<T>): void {
    if (!lane.isBusy && lane.waitsFor === undefined) this.ready.push(lane)
  }
}
