/**
 * Packed lists of records without positions: what `ingest` sends to a spool.
 *
 *     count u32, then each record:
 *     timestamp u64 | subject: u32 length, bytes | headers: u16 count, (u16 name, u32 value) each
 *     | data: u32 length, bytes                                             all big-endian
 */
import type { NewRecord, RecordHeader } from "@holdfast/records"
import { Option } from "effect"

/** The most records in one list. */
export const recordListMax = 10_000

const headerCountMax = 65_535

/** Packs records; the caller keeps a list under the transport's payload limit. */
export const encodeRecords = (records: ReadonlyArray<NewRecord>): Uint8Array => {
  const body = new Uint8Array(records.reduce((sum, record) => sum + packedBytes(record), 4))
  const view = new DataView(body.buffer)
  view.setUint32(0, records.length)
  let offset = 4
  const putBytes = (bytes: Uint8Array): void => {
    body.set(bytes, offset)
    offset += bytes.length
  }
  for (const record of records) {
    view.setBigUint64(offset, record.timestamp)
    view.setUint32(offset + 8, record.subject.length)
    offset += 12
    putBytes(record.subject)
    view.setUint16(offset, record.headers.length)
    offset += 2
    for (const [name, value] of record.headers) {
      view.setUint16(offset, name.length)
      view.setUint32(offset + 2, value.length)
      offset += 6
      putBytes(name)
      putBytes(value)
    }
    view.setUint32(offset, record.data.length)
    offset += 4
    putBytes(record.data)
  }
  return body
}

/** The bytes that one record takes in a list. */
export const packedBytes = (record: NewRecord): number =>
  record.headers.reduce(
    (sum, [name, value]) => sum + 6 + name.length + value.length,
    18 + record.subject.length + record.data.length
  )

/** Whether a record can be packed: its header count and header names have 16-bit lengths. */
export const isPackable = (record: NewRecord): boolean =>
  record.headers.length <= headerCountMax &&
  record.headers.every(([name]) => name.length <= headerCountMax) &&
  record.timestamp >= 0n &&
  record.timestamp < 1n << 64n

/** Unpacks a list; none when a length points outside it or bytes are left over. */
export const decodeRecords = (bytes: Uint8Array): Option.Option<ReadonlyArray<NewRecord>> => {
  const reader = makeReader(bytes)
  const count = reader.uint32()
  if (count > recordListMax) return Option.none()
  const records: Array<NewRecord> = []
  for (let index = 0; index < count && reader.intact(); index++) {
    const timestamp = reader.uint64()
    const subject = reader.bytes(reader.uint32())
    const headers: Array<RecordHeader> = []
    const headerCount = reader.uint16()
    for (let header = 0; header < headerCount && reader.intact(); header++) {
      const nameLength = reader.uint16()
      const valueLength = reader.uint32()
      headers.push([reader.bytes(nameLength), reader.bytes(valueLength)])
    }
    records.push({ timestamp, subject, headers, data: reader.bytes(reader.uint32()) })
  }
  return reader.intact() && reader.atEnd() ? Option.some(records) : Option.none()
}

/** Reads fields in order; once a field points outside, everything after reads as zero. */
const makeReader = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let offset = 0
  let broken = false
  const take = (length: number): number => {
    if (broken || length > bytes.length - offset) {
      broken = true
      return -1
    }
    offset += length
    return offset - length
  }
  const at = <A>(start: number, read: (start: number) => A, zero: A): A =>
    start < 0 ? zero : read(start)
  return {
    uint16: () => at(take(2), (start) => view.getUint16(start), 0),
    uint32: () => at(take(4), (start) => view.getUint32(start), 0),
    uint64: () => at(take(8), (start) => view.getBigUint64(start), 0n),
    bytes: (length: number) =>
      at(take(length), (start) => bytes.subarray(start, start + length), new Uint8Array(0)),
    intact: () => !broken,
    atEnd: () => offset === bytes.length
  }
}
