/**
 * The deliveries that a durable consumer waits for, in order: what was delivered and not
 * acknowledged yet. Bounded by what the server lets be unacknowledged at a time.
 *
 * They are kept as columns of numbers, 24 bytes each: the subjects on which they are answered would
 * be many times that, and making them costs more than all else that is done for a record.
 */
import type { DeliveryInfo } from "./delivery-info.ts"

/** A delivery, by the numbers that an answer to it names. */
export type Delivery = Pick<DeliveryInfo, "deliveries" | "order" | "position">

/** First in, first out, by position. */
export class Unacknowledged {
  private positions: Array<number> = []
  private orders: Array<number> = []
  private counts: Array<number> = []
  private head = 0

  /** How many there are. */
  get size(): number {
    return this.positions.length - this.head
  }

  /** Adds a delivery, which is copied; a repeat takes the place of the one before. */
  add({ deliveries, order, position }: Delivery): void {
    const length = this.positions.length
    if (this.size === 0 || position > (this.positions[length - 1] ?? 0)) {
      this.positions.push(position)
      this.orders.push(order)
      this.counts.push(deliveries)
      return
    }
    const at = this.indexAbove(position - 1)
    if (this.positions[at] !== position) return
    this.orders[at] = order
    this.counts[at] = deliveries
  }

  /** The newest delivery at or below a position. O(log n). */
  newestUpTo(position: number): Delivery | undefined {
    const at = this.indexAbove(position)
    return at === this.head ? undefined : this.deliveryAt(at - 1)
  }

  /** Forgets everything up to a position. Amortised O(log n). */
  forgetUpTo(position: number): void {
    this.head = this.indexAbove(position)
    if (this.head < 1_024 || this.head * 2 < this.positions.length) return
    this.positions = this.positions.slice(this.head)
    this.orders = this.orders.slice(this.head)
    this.counts = this.counts.slice(this.head)
    this.head = 0
  }

  /** Forgets all of them. */
  clear(): void {
    this.positions = []
    this.orders = []
    this.counts = []
    this.head = 0
  }

  /** All of them as they are now, oldest first. */
  all(): ReadonlyArray<Delivery> {
    return Array.from({ length: this.size }, (_, index) => this.deliveryAt(this.head + index))
  }

  private deliveryAt(at: number): Delivery {
    return {
      position: this.positions[at] ?? 0,
      order: this.orders[at] ?? 0,
      deliveries: this.counts[at] ?? 0
    }
  }

  /** Where the first delivery above a position stands. */
  private indexAbove(position: number): number {
    let low = this.head
    let high = this.positions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.positions[middle] ?? 0) <= position) low = middle + 1
      else high = middle
    }
    return low
  }
}
