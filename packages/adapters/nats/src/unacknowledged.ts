/**
 * The deliveries that a durable consumer waits for, in order: what was delivered and not
 * acknowledged yet. Bounded by what the server lets be unacknowledged at a time.
 */

/** A delivery, and where to answer it. */
export interface Delivery {
  readonly position: number
  readonly reply: string
}

/** First in, first out, by position. */
export class Unacknowledged {
  private deliveries: Array<Delivery> = []
  private head = 0

  /** How many there are. */
  get size(): number {
    return this.deliveries.length - this.head
  }

  /** Adds a delivery; a repeat takes the place of the one before. */
  add(delivery: Delivery): void {
    const last = this.deliveries.at(-1)
    if (this.size === 0 || last === undefined || delivery.position > last.position) {
      this.deliveries.push(delivery)
      return
    }
    const at = this.indexAbove(delivery.position - 1)
    if (this.deliveries[at]?.position === delivery.position) this.deliveries[at] = delivery
  }

  /** The newest delivery at or below a position. O(log n). */
  newestUpTo(position: number): Delivery | undefined {
    const at = this.indexAbove(position)
    return at === this.head ? undefined : this.deliveries[at - 1]
  }

  /** Forgets everything up to a position. Amortised O(log n). */
  forgetUpTo(position: number): void {
    this.head = this.indexAbove(position)
    if (this.head < 1_024 || this.head * 2 < this.deliveries.length) return
    this.deliveries = this.deliveries.slice(this.head)
    this.head = 0
  }

  /** Forgets all of them. */
  clear(): void {
    this.deliveries = []
    this.head = 0
  }

  /** All of them as they are now, oldest first. */
  all(): ReadonlyArray<Delivery> {
    return this.deliveries.slice(this.head)
  }

  /** Where the first delivery above a position stands. */
  private indexAbove(position: number): number {
    let low = this.head
    let high = this.deliveries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.deliveries[middle]?.position ?? 0) <= position) low = middle + 1
      else high = middle
    }
    return low
  }
}
