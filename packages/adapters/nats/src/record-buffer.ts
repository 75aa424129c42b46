/**
 * Records that were fetched ahead, in order, with the gaps between them.
 *
 * 1. Positions strictly increase; a repeat is left out by its position.
 * 2. A gap is handed out once, with the first records at or behind it.
 */
import type { Gap, SourceRecord } from "@holdfast/records"

/** What a reader takes at a time. */
export interface Taken {
  readonly records: ReadonlyArray<SourceRecord>
  readonly gaps: ReadonlyArray<Gap>
}

/** A first-in first-out buffer of records. */
export interface RecordBuffer {
  readonly push: (record: SourceRecord) => void
  readonly pushGap: (gap: Gap) => void
  /** Takes at least one record when there is one, and no more than the bounds allow. */
  readonly take: (options: { readonly maxRecords: number; readonly maxBytes: number }) => Taken
  readonly records: () => number
  readonly bytes: () => number
  readonly isEmpty: () => boolean
}

/** The bytes of a record that count towards limits. */
export const recordBytes = (record: SourceRecord): number => {
  let bytes = record.subject.length + record.data.length
  for (const [name, value] of record.headers) bytes += name.length + value.length
  return bytes
}

/** Makes an empty buffer. */
export const makeRecordBuffer = (): RecordBuffer => {
  let records: Array<SourceRecord> = []
  let head = 0
  let bytes = 0
  let gaps: Array<Gap> = []

  const take: RecordBuffer["take"] = ({ maxRecords, maxBytes }) => {
    const limit = Math.min(records.length, head + Math.max(1, maxRecords))
    let end = head
    let taken = 0
    while (end < limit) {
      const next = records[end]
      const size = next === undefined ? 0 : recordBytes(next)
      if (end > head && taken + size > maxBytes) break
      taken += size
      end += 1
    }
    const batch = records.slice(head, end)
    head = end
    bytes -= taken
    if (head === records.length) {
      records = []
      head = 0
    } else if (head > 8_192) {
      records = records.slice(head)
      head = 0
    }
    return { records: batch, gaps: takeGaps() }
  }

  const takeGaps = (): ReadonlyArray<Gap> => {
    const next = records[head]
    const due = next === undefined ? gaps : gaps.filter((gap) => gap.from < next.position)
    // What was handed out must not change when a later gap is pushed.
    if (due.length === 0) return []
    gaps = gaps.slice(due.length)
    return due
  }

  return {
    push: (record) => {
      records.push(record)
      bytes += recordBytes(record)
    },
    pushGap: (gap) => void gaps.push(gap),
    take,
    records: () => records.length - head,
    bytes: () => bytes,
    isEmpty: () => records.length === head && gaps.length === 0
  }
}
