/**
 * The records that a daemon has sent and that are not checkpointed: it sends each once, so whoever
 * opens the shard again in this process reads them from here.
 */
import type { SourceRecord } from "@holdfast/records"

/** What a record costs beside its bytes, about. */
const overheadBytes = 200

const sizeOf = ({ data, subject }: SourceRecord): number =>
  overheadBytes + data.length + subject.length

/** Records in the order of their positions; lets go of the oldest first. */
export class RetainedRecords {
  private records: Array<SourceRecord> = []
  /** How many at the front were let go of and still stand in the array. */
  private gone = 0
  /** Bytes held, about. */
  bytes = 0
  /** The newest position that ever came; none before the first. */
  newest: bigint | undefined
  /** The highest position that was let go of; none while nothing was. */
  forgotten: bigint | undefined

  /** Adds records; answers how many stood at or below the newest, and were passed over. */
  push(records: ReadonlyArray<SourceRecord>): number {
    let repeated = 0
    for (const record of records) {
      if (this.newest !== undefined && record.position <= this.newest) {
        repeated += 1
        continue
      }
      this.records.push(record)
      this.newest = record.position
      this.bytes += sizeOf(record)
    }
    return repeated
  }

  /** Lets go of everything up to a position. Amortised O(1) a record. */
  forget(upTo: bigint): void {
    while (this.gone < this.records.length && this.records[this.gone]!.position <= upTo) {
      const record = this.records[this.gone]!
      this.bytes -= sizeOf(record)
      this.forgotten = record.position
      this.gone += 1
    }
    if (this.gone * 2 < this.records.length) return
    this.records = this.records.slice(this.gone)
    this.gone = 0
  }

  /** At most so many records and bytes above a position, the first whatever its size. */
  above(
    position: bigint | undefined,
    bounds: { readonly maxRecords: number; readonly maxBytes: number }
  ): ReadonlyArray<SourceRecord> {
    const taken: Array<SourceRecord> = []
    let bytes = 0
    for (let at = this.indexAbove(position); at < this.records.length; at++) {
      const record = this.records[at]!
      bytes += record.data.length
      if (taken.length >= bounds.maxRecords) break
      if (taken.length > 0 && bytes > bounds.maxBytes) break
      taken.push(record)
    }
    return taken
  }

  /** Whether there is a record above a position. */
  hasAbove(position: bigint | undefined): boolean {
    return this.newest !== undefined && (position === undefined || position < this.newest)
  }

  private indexAbove(position: bigint | undefined): number {
    if (position === undefined) return this.gone
    let low = this.gone
    let high = this.records.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.records[middle]!.position <= position) low = middle + 1
      else high = middle
    }
    return low
  }
}
