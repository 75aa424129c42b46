/** A batch as one ordered list: records, and the gaps between them as records without parts. */
import type { RecordBatch, SourceRecord } from "@holdfast/records"

/** One thing to be admitted. */
export interface Entry {
  readonly position: bigint
  readonly bytes: number
  /** None for a gap: the position is the last one that is missing. */
  readonly record: SourceRecord | undefined
  readonly isGap: boolean
}

/** What a record costs beside its bytes, about. */
const recordOverheadBytes = 128

/** Records and gaps in order of position. */
export function* entriesOf({ gaps, records }: RecordBatch): Generator<Entry> {
  let next = 0
  for (const record of records) {
    for (; next < gaps.length && gaps[next]!.to < record.position; next++) {
      yield gapEntry(gaps[next]!.to)
    }
    yield { position: record.position, bytes: sizeOf(record), record, isGap: false }
  }
  for (; next < gaps.length; next++) yield gapEntry(gaps[next]!.to)
}

const gapEntry = (position: bigint): Entry => ({
  position,
  bytes: 0,
  record: undefined,
  isGap: true
})

const sizeOf = ({ data, headers, subject }: SourceRecord): number => {
  let bytes = recordOverheadBytes + data.length + subject.length
  for (const [name, value] of headers) bytes += name.length + value.length
  return bytes
}
