/** Records that wait for their next attempt, by the time at which it is due. */
import type { Ordinal } from "@holdfast/disposition"

/** One record that waits; without parts it is to be tried whole. */
export interface Retry {
  readonly ordinal: Ordinal
  readonly dueAt: number
  readonly attempt: number
  readonly parts: ReadonlyArray<number> | undefined
}

/** Bounded by the tracker: a record that waits is in flight. */
export class RetryQueue {
  private readonly waiting = new Map<Ordinal, Retry>()
  /** At or before the earliest time that something is due. */
  private earliest: number | undefined

  /** How many records wait. */
  get size(): number {
    return this.waiting.size
  }

  /** Lets a record, or one more part of it, wait; the later time and the higher attempt count. */
  add(retry: Retry): void {
    const before = this.waiting.get(retry.ordinal)
    if (this.earliest === undefined || retry.dueAt < this.earliest) this.earliest = retry.dueAt
    if (before === undefined) {
      this.waiting.set(retry.ordinal, retry)
      return
    }
    const isWhole = before.parts === undefined || retry.parts === undefined
    this.waiting.set(retry.ordinal, {
      ordinal: retry.ordinal,
      dueAt: Math.max(before.dueAt, retry.dueAt),
      attempt: Math.max(before.attempt, retry.attempt),
      parts: isWhole ? undefined : [...new Set([...before.parts, ...retry.parts])].sort(ascending)
    })
  }

  /** Forgets a record that is finished. */
  remove(ordinal: Ordinal): void {
    // Asked once for every record, and next to none of them waits.
    if (this.waiting.size > 0) this.waiting.delete(ordinal)
  }

  /** Forgets everything. */
  clear(): void {
    this.waiting.clear()
    this.earliest = undefined
  }

  /** When to look for what is due: at the earliest time, or before it. O(1). */
  nextDue(): number | undefined {
    return this.waiting.size === 0 ? undefined : this.earliest
  }

  /** Takes what is due, in the order of arrival. O(size). */
  takeDue(now: number): ReadonlyArray<Retry> {
    const due: Array<Retry> = []
    this.earliest = undefined
    for (const retry of this.waiting.values()) {
      const { dueAt, ordinal } = retry
      if (dueAt <= now) {
        due.push(retry)
        this.waiting.delete(ordinal)
      } else if (this.earliest === undefined || dueAt < this.earliest) {
        this.earliest = dueAt
      }
    }
    return due.sort((one, other) => one.ordinal - other.ordinal)
  }
}

const ascending = (one: number, other: number): number => one - other
