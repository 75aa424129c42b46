/** A queue with cheap ends: amortised O(1) at the back and when taking, O(n) for a late first. */

/** First in, first out, but that something may be put in front. */
export class Deque<T> {
  private items: Array<T> = []
  private head = 0

  /** How many are queued. */
  get size(): number {
    return this.items.length - this.head
  }

  /** Queues at the back. */
  push(item: T): void {
    this.items.push(item)
  }

  /** Puts in front of all others. */
  unshift(item: T): void {
    if (this.head > 0) {
      this.head -= 1
      this.items[this.head] = item
    } else {
      this.items.unshift(item)
    }
  }

  /** Takes the first; none when it is empty. */
  shift(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.items[this.head]
    this.head += 1
    if (this.head > 1_024 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head)
      this.head = 0
    }
    return item
  }
}
