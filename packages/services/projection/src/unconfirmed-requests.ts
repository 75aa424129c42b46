/**
 * The requests to each partition that a redelivery may repeat: those whose records no confirmed
 * checkpoint covers yet.
 *
 *     sent ──▶ unconfirmed ──checkpoint that covers the record──▶ forgotten
 *
 * A partition remembers its latest requests only, so a repeat is known while few others came after
 * its first time. Who lets at most `n` be unconfirmed at once repeats at most the latest `n` of its
 * own, whenever it crashes.
 *
 * 1. A request leaves only when a checkpoint says that its item will never come again.
 * 2. It holds at most what the worker has between its checkpoint and its newest record.
 */
import { hasPart, statusOf } from "@holdfast/disposition"
import { Signal } from "@holdfast/records"
import type { Resume } from "@holdfast/service-worker"

/** An item whose request was answered: its record, and under which part it is accounted for. */
export interface SentItem {
  readonly position: bigint
  /** None where the record is the item. */
  readonly part: number | undefined
}

/** Requests by partition; see the module comment. */
export class UnconfirmedRequests {
  readonly signal = new Signal()
  /** Rises with each checkpoint that was confirmed. */
  confirmations = 0
  private readonly sent = new Map<string, ReadonlyArray<SentItem>>()

  /** How many requests to a partition may be repeated. */
  countOf(key: string): number {
    return this.sent.get(key)?.length ?? 0
  }

  /** Takes note of a request that was answered. O(unconfirmed of its partition). */
  add(key: string, item: SentItem): void {
    this.sent.set(key, [...(this.sent.get(key) ?? []), item])
  }

  /** Forgets what a checkpoint covers. O(unconfirmed). */
  confirm({ completion }: Resume): void {
    for (const [key, items] of this.sent) {
      const left = items.filter(({ part, position }) => {
        const status = statusOf(completion, position)
        switch (status._tag) {
          case "Finished":
            return false
          case "Partial":
            return part === undefined || !hasPart(status.finished, part)
          case "Unfinished":
            return true
        }
      })
      if (left.length === 0) this.sent.delete(key)
      else this.sent.set(key, left)
    }
    this.confirmations += 1
    this.signal.notify()
  }
}
