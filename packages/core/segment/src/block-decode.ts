/** The reader's half of a block: columns put together into records, every length checked. */
import { ByteCursor, readVarints } from "./byte-cursor.ts"
import { type BlockFacts, blockFlag, blockFlagsKnown } from "./block-encode.ts"
import { blockRecordsMax } from "./limits.ts"
import { type Payloads, restorePayloads } from "./payload-restore.ts"
import { type SegmentHeader, type SegmentRecord, timestampMax, timestampMin } from "./record.ts"
import {
  uint64ToWords,
  wordsHigh,
  wordsLow,
  wordsToInt64,
  wordsToUint64,
  wordWeight
} from "./words.ts"

const noHeaders: ReadonlyArray<SegmentHeader> = Object.freeze([])

interface Columns {
  readonly raw: Uint8Array
  readonly flags: number
  readonly count: number
  readonly positions: ByteCursor
  readonly parts: ByteCursor
  readonly times: ByteCursor
  readonly subjects: ByteCursor
  readonly lengths: ByteCursor
  readonly headers: ByteCursor
  readonly side: ByteCursor
  readonly data: ByteCursor
}

const readColumns = (raw: Uint8Array): Columns | string => {
  const head = new ByteCursor(raw)
  const flags = head.byte()
  const count = head.varint()
  const sizes = Array.from({ length: 8 }, () => head.varint())
  if (head.failed || flags > blockFlagsKnown) return "its head cannot be read"
  if (count < 1 || count > blockRecordsMax) return `it claims ${count} records`
  if (sizes.reduce((sum, size) => sum + size, head.offset) !== raw.length) {
    return "its columns do not fill it"
  }
  let offset = head.offset
  const next = (column: number): ByteCursor => {
    const cursor = new ByteCursor(raw, offset, offset + sizes[column]!)
    offset = cursor.end
    return cursor
  }
  return {
    raw,
    flags,
    count,
    positions: next(0),
    parts: next(1),
    times: next(2),
    subjects: next(3),
    lengths: next(4),
    headers: next(5),
    side: next(6),
    data: next(7)
  }
}

const integers = (cursor: ByteCursor, count: number): Float64Array | undefined => {
  const into = new Float64Array(count)
  const range = { start: cursor.offset, end: cursor.end, count }
  return readVarints(cursor.bytes, range, into) ? into : undefined
}

const readPositions = (columns: Columns, first: bigint): Array<bigint> | undefined => {
  const { count, positions } = columns
  const all: Array<bigint> = []
  if ((columns.flags & blockFlag.widePositions) !== 0) {
    if (positions.varint() !== 0) return undefined
    let position = first
    all.push(position)
    while (all.length < count && !positions.failed) {
      position += positions.wide()
      all.push(position)
    }
    return positions.finished ? all : undefined
  }
  const differences = integers(positions, count)
  if (differences === undefined || differences[0] !== 0) return undefined
  uint64ToWords(first)
  let high = wordsHigh()
  let low = wordsLow()
  all.push(first)
  for (let index = 1; index < count; index++) {
    low += differences[index]!
    if (low >= wordWeight) {
      const carry = Math.floor(low / wordWeight)
      low -= carry * wordWeight
      high += carry
      if (high >= wordWeight) return undefined
    }
    all.push(wordsToUint64(high, low))
  }
  return all
}

const readTimes = (columns: Columns): Array<bigint> | undefined => {
  const { count, times } = columns
  const first = times.int64()
  if (times.failed) return undefined
  const all: Array<bigint> = [first]
  if ((columns.flags & blockFlag.wideTimes) !== 0) {
    while (all.length < count) all.push(times.int64())
    return times.finished ? all : undefined
  }
  const differences = new Float64Array(count - 1)
  const range = { start: times.offset, end: times.end, count: count - 1 }
  if (!readVarints(times.bytes, range, differences)) return undefined
  let high = Number(first >> 32n)
  let low = Number(first & 0xffff_ffffn)
  for (let index = 0; index < differences.length; index++) {
    const zigzag = differences[index]!
    low += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
    const carry = Math.floor(low / wordWeight)
    if (carry !== 0) {
      low -= carry * wordWeight
      high += carry
      if (high < -0x8000_0000 || high > 0x7fff_ffff) return undefined
    }
    all.push(wordsToInt64(high, low))
  }
  return all
}

/** One byte string of the subject or header column: from the dictionary, or inline. */
const readName = (
  column: ByteCursor,
  side: ByteCursor,
  dictionary: ReadonlyArray<Uint8Array>
): Uint8Array | undefined => {
  const reference = column.varint()
  if (reference !== 0) return dictionary[reference - 1]
  return side.raw(column.varint())
}

const readHeaders = (
  columns: Columns,
  dictionary: ReadonlyArray<Uint8Array>
): ReadonlyArray<SegmentHeader> | undefined => {
  const { headers, side } = columns
  const count = headers.varint()
  if (count === 0) return headers.failed ? undefined : noHeaders
  if (count > headers.remaining) return undefined
  const all: Array<SegmentHeader> = []
  while (all.length < count) {
    const name = readName(headers, side, dictionary)
    if (name === undefined) return undefined
    all.push([name, side.raw(headers.varint())])
  }
  return headers.failed || side.failed ? undefined : all
}

/** The payloads of a block, put together where they are shredded. */
const readPayloads = (columns: Columns, bytesMax: number): Payloads | undefined => {
  const { count, data, lengths } = columns
  if ((columns.flags & blockFlag.shredded) !== 0) {
    return lengths.finished ? restorePayloads(data, count, bytesMax) : undefined
  }
  const plain = integers(lengths, count)
  return plain === undefined
    ? undefined
    : { data: columns.raw.subarray(data.offset, data.end), lengths: plain }
}

const assemble = (
  columns: Columns,
  scalars: {
    readonly positions: ReadonlyArray<bigint>
    readonly times: ReadonlyArray<bigint>
    readonly parts: Float64Array | undefined
    readonly payloads: Payloads
  },
  dictionary: ReadonlyArray<Uint8Array>
): Array<SegmentRecord> | string => {
  const { count, side, subjects } = columns
  const { parts, payloads, positions, times } = scalars
  const { data, lengths } = payloads
  const withHeaders = (columns.flags & blockFlag.headers) !== 0
  const records: Array<SegmentRecord> = []
  let offset = 0
  for (let index = 0; index < count; index++) {
    const subject = readName(subjects, side, dictionary)
    if (subject === undefined) return "a subject is not in the dictionary"
    const headers = withHeaders ? readHeaders(columns, dictionary) : noHeaders
    if (headers === undefined) return "the headers of a record cannot be read"
    const end = offset + lengths[index]!
    if (end > data.length) return "the payloads run over its end"
    records.push({
      position: positions[index]!,
      part: parts === undefined ? 0 : parts[index]!,
      timestamp: times[index]!,
      subject,
      headers,
      data: data.subarray(offset, end)
    })
    offset = end
  }
  const read = subjects.finished && side.finished && columns.headers.finished
  return read && offset === data.length ? records : "bytes are left over in a column"
}

const agrees = (records: ReadonlyArray<SegmentRecord>, facts: BlockFacts): boolean => {
  if (records.length !== facts.count) return false
  let timeMin = timestampMax
  let timeMax = timestampMin
  for (let index = 0; index < records.length; index++) {
    const { part, position, timestamp } = records[index]!
    if (timestamp < timeMin) timeMin = timestamp
    if (timestamp > timeMax) timeMax = timestamp
    if (index === 0) continue
    const before = records[index - 1]!
    if (position === before.position && part <= before.part) return false
  }
  return (
    records[0]!.position === facts.first &&
    records.at(-1)!.position === facts.last &&
    timeMin === facts.timeMin &&
    timeMax === facts.timeMax
  )
}

/**
 * The records of a raw block, or a sentence that says what is wrong with it.
 *
 * Time and memory are bounded by the block's bytes, `blockRecordsMax` and `payloadBytesMax`,
 * whatever it claims.
 */
export const decodeColumns = (
  raw: Uint8Array,
  facts: BlockFacts,
  options: {
    readonly dictionary: ReadonlyArray<Uint8Array>
    /** Bytes that all payloads together may have. */
    readonly payloadBytesMax: number
  }
): Array<SegmentRecord> | string => {
  const columns = readColumns(raw)
  if (typeof columns === "string") return columns
  const positions = readPositions(columns, facts.first)
  if (positions === undefined) return "its positions cannot be read"
  const times = readTimes(columns)
  if (times === undefined) return "its times cannot be read"
  const payloads = readPayloads(columns, options.payloadBytesMax)
  if (payloads === undefined) return "its payloads cannot be read"
  const withParts = (columns.flags & blockFlag.parts) !== 0
  const parts = withParts ? integers(columns.parts, columns.count) : undefined
  if (withParts ? parts === undefined : !columns.parts.finished) return "its parts cannot be read"
  const records = assemble(columns, { positions, times, parts, payloads }, options.dictionary)
  if (typeof records === "string") return records
  return agrees(records, facts) ? records : "its records are not those that the index names"
}
