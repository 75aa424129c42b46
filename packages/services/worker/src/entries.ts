/** A batch as one ordered list: records, and the gaps between them as records without parts. */
import type { RecordBatch, SourceRecord } from "@holdfast/records"
import type { OpenRecord } from "./aggregates.ts"
import type { HeldRecord } from "./held-records.ts"

/** One thing to be admitted. */
export interface Entry {
  readonly position: bigint
  readonly bytes: number
  /** None for a gap: the position is the last one that is missing. */
  readonly held: HeldRecord | undefined
  /** How many parts it has; none where that is for the pipeline to say. */
  readonly parts: number | undefined
  /** It looks like an aggregate and could not be opened. */
  readonly isDamaged: boolean
}

/** What a record costs beside its bytes, about. */
const recordOverheadBytes = 128

/** Records and gaps in order of position; a record is opened when its turn has come. */
export function* entriesOf(
  { gaps, records }: RecordBatch,
  open: OpenRecord | undefined
): Generator<Entry> {
  let next = 0
  for (const record of records) {
    for (; next < gaps.length && gaps[next]!.to < record.position; next++) {
      yield gapEntry(gaps[next]!.to)
    }
    yield recordEntry(record, open)
  }
  for (; next < gaps.length; next++) yield gapEntry(gaps[next]!.to)
}

const gapEntry = (position: bigint): Entry => ({
  position,
  bytes: 0,
  held: undefined,
  parts: 0,
  isDamaged: false
})

const recordEntry = (record: SourceRecord, open: OpenRecord | undefined): Entry => {
  const { position } = record
  const bytes = sizeOf(record)
  const opened = open?.(record)
  if (opened?._tag !== "Aggregate") {
    const isDamaged = opened !== undefined && opened.why !== "NoMagic"
    return { position, bytes, held: { record, parts: undefined }, parts: undefined, isDamaged }
  }
  const parts = opened.records
  // What was inflated is larger than the message that it came in.
  const inside = parts.reduce((sum, { data }) => sum + data.length, 0)
  return {
    position,
    bytes: Math.max(bytes, inside),
    held: { record, parts },
    parts: parts.length,
    isDamaged: false
  }
}

const sizeOf = ({ data, headers, subject }: SourceRecord): number => {
  let bytes = recordOverheadBytes + data.length + subject.length
  for (const [name, value] of headers) bytes += name.length + value.length
  return bytes
}
