/** How long one kind of work takes: the latest time, the longest, and all of them together. */

/** Times of one kind, milliseconds. */
export class Latency {
  count = 0
  lastMs = 0
  highestMs = 0
  totalMs = 0

  /** Takes note of one time. */
  note(milliseconds: number): void {
    this.count += 1
    this.lastMs = milliseconds
    this.highestMs = Math.max(this.highestMs, milliseconds)
    this.totalMs += milliseconds
  }
}
