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

  /** How many records wait. */
  get size(): number {
    return this.waiting.size
  }

  /** Lets a record, or one more part of it, wait; the later time and the higher attempt count. */
  add(retry: Retry): void {
    const before = this.waiting.get(retry.ordinal)
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
    this.waiting.delete(ordinal)
  }

  /** Forgets everything. */
  clear(): void {
    this.waiting.clear()
  }

  /** When the next record is due; none when nothing waits. O(size). */
  nextDue(): number | undefined {
    let earliest: number | undefined
    for (const { dueAt } of this.waiting.values()) {
      if (earliest === undefined || dueAt < earliest) earliest = dueAt
    }
    return earliest
  }

  /** Takes what is due, in the order of arrival. O(size). */
  takeDue(now: number): ReadonlyArray<Retry> {
    const due = [...this.waiting.values()].filter(({ dueAt }) => dueAt <= now)
    for (const { ordinal } of due) this.waiting.delete(ordinal)
    return due.sort((one, other) => one.ordinal - other.ordinal)
  }
}

const ascending = (one: number, other: number): number => one - other
