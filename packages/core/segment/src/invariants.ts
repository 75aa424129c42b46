/** What must be true of an opened segment and of its records, checked by tests and `verify`. */
import { recordBytes, type SegmentRecord } from "./record.ts"
import type { SegmentFile } from "./reader.ts"

/** A broken invariant, by its number in `invariants`. */
export interface Violation {
  readonly invariant: number
  readonly message: string
}

/**
 * 1. Blocks lie one behind the other in order of position.
 * 2. The records are as many as the summary says, between its bounds, of its bytes.
 * 3. Records strictly increase by (position, part).
 */
export const invariants = (
  file: SegmentFile,
  records: ReadonlyArray<SegmentRecord>
): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const check = (invariant: number, holds: boolean, message: string): void => {
    if (!holds) violations.push({ invariant, message })
  }
  file.blocks.forEach((block, index) => {
    const before = file.blocks[index - 1]
    if (before === undefined) return
    const adjacent = before.offset + before.length === block.offset
    check(1, adjacent && before.last <= block.first, `block ${index} is out of place`)
  })
  const { count, first, last, rawBytes, timeMax, timeMin } = file.summary
  check(2, records.length === count, `${records.length} records instead of ${count}`)
  const bytes = records.reduce((sum, record) => sum + recordBytes(record), 0)
  check(2, bytes === rawBytes, `${bytes} raw bytes instead of ${rawBytes}`)
  records.forEach((record, index) => {
    const { part, position, timestamp } = record
    check(2, position >= first && position <= last, `position ${position} is out of bounds`)
    check(2, timestamp >= timeMin && timestamp <= timeMax, `time ${timestamp} is out of bounds`)
    const before = records[index - 1]
    if (before === undefined) return
    const later = position > before.position || (position === before.position && part > before.part)
    check(3, later, `record ${index} does not follow the one before it`)
  })
  return violations
}
