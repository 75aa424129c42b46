/**
 * A stream's durable consumer as a broker keeps it: one reader has it, and acknowledges by
 * watermark.
 *
 *     open ──▶ taken over, made anew ──deliver──▶ unacknowledged ──acknowledge──▶ forgotten
 *
 * 1. Who opens the stream takes the consumer over, with nothing unacknowledged; the reader that had
 *    it gets nothing more.
 * 2. No more is delivered while as many deliveries are unacknowledged as may be.
 * 3. An acknowledgement covers everything below it, whoever sends it.
 */

/** How a source with watermarks reads a shard. */
export interface WatermarkOptions {
  /** Deliveries that may be unacknowledged at a time. */
  readonly pendingMax: number
}

/** The consumer of one stream; it outlives its readers. */
export class WatermarkConsumer {
  private holder: symbol | undefined
  private unacknowledged: Array<bigint> = []

  /** Gives it to a reader. */
  takeOver(reader: symbol): void {
    this.holder = reader
    this.unacknowledged = []
  }

  /** Whether a reader has it. */
  isHeldBy(reader: symbol): boolean {
    return this.holder === reader
  }

  /** Deliveries that wait for their acknowledgement. */
  get pending(): number {
    return this.unacknowledged.length
  }

  /** Takes note of a delivery. */
  delivered(position: bigint): void {
    this.unacknowledged.push(position)
  }

  /** Everything up to a position is finished. */
  acknowledge(upTo: bigint): void {
    this.unacknowledged = this.unacknowledged.filter((position) => position > upTo)
  }
}
