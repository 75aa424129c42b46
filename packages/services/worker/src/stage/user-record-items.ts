/**
 * The items of user records: a user record is one part of its aggregate for the worker, and falls
 * apart into items of its own here. The part is done when the last of its items is.
 *
 *     part offered ──▶ items queued ──all done──▶ PartsDone
 *                        │   ▲
 *                      failed └── part offered again: those that failed, and no others
 *
 * 1. A part is reported as failed once for each time that it was offered, whichever of its items
 *    failed first; it comes again as a whole, and its items that are done are not done again.
 * 2. What is kept here is bounded by what is in flight: a part that is done or laid aside is
 *    forgotten.
 */
import type { Ordinal } from "@holdfast/disposition"

interface UserRecordState {
  remaining: number
  readonly failed: Set<number>
}

/** The user records whose items are under way. */
export class UserRecordItems {
  private readonly open = new Map<Ordinal, Map<number, UserRecordState>>()

  /** Which items to queue of a part that is offered; 0 items make none. */
  offer(ordinal: Ordinal, part: number, total: number): ReadonlyArray<number> {
    const parts = this.open.get(ordinal) ?? new Map<number, UserRecordState>()
    const known = parts.get(part)
    if (known !== undefined) {
      const again = [...known.failed].sort((one, other) => one - other)
      known.failed.clear()
      return again
    }
    if (total > 0) this.open.set(ordinal, parts.set(part, { remaining: total, failed: new Set() }))
    return Array.from({ length: total }, (_, index) => index)
  }

  /** An item is done; whether that was the last of its part. */
  succeed(ordinal: Ordinal, part: number): boolean {
    const state = this.open.get(ordinal)?.get(part)
    if (state === undefined) return false
    state.remaining -= 1
    if (state.remaining > 0) return false
    this.giveUp(ordinal, part)
    return true
  }

  /** An item has failed; whether its part is to be reported for that. */
  fail(ordinal: Ordinal, part: number, index: number): boolean {
    const state = this.open.get(ordinal)?.get(part)
    if (state === undefined) return false
    state.failed.add(index)
    return state.failed.size === 1
  }

  /** Forgets a part, or all of a record. */
  giveUp(ordinal: Ordinal, part?: number): void {
    const parts = this.open.get(ordinal)
    if (part !== undefined) parts?.delete(part)
    if (part === undefined || parts?.size === 0) this.open.delete(ordinal)
  }
}
