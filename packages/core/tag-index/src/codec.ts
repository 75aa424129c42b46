/**
 * Two binary forms of records.
 *
 * A list of records, for a message:
 *
 *     version 1 (1 byte), count (4 bytes), then for each: tag length (2), tag, key (32)
 *
 * One record as the key of an ordered store, whose bytewise order is the order of the records:
 *
 *     tag with each 00 written as 00 ff, then 00 01, then the key (32)
 *
 * Whole numbers are unsigned, most significant byte first.
 */
import { Result } from "effect"
import { PartitionKey, TAG_BYTES_MAX, TagRefused } from "./record.ts"
import type { IndexRecord } from "./record.ts"

/** Bytes of a partition key. */
const KEY_BYTES = 32
/** The format version of a list of records. */
const LIST_VERSION = 1
/** Records of the longest list. */
export const LIST_RECORDS_MAX = 1_000_000

const HEADER_BYTES = 5
const ESCAPE = 0x00
const ESCAPED_ZERO = 0xff
const END_OF_TAG = 0x01

const refuse = (message: string) => Result.fail(new TagRefused({ code: "malformed", message }))

const HEX_PAIRS: ReadonlyArray<string> = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0")
)

const readKey = (bytes: Uint8Array, from: number): PartitionKey => {
  let digits = ""
  for (let index = from; index < from + KEY_BYTES; index++) digits += HEX_PAIRS[bytes[index]!]!
  return PartitionKey.make(digits)
}

/** A copy of some bytes: `slice` of a Node buffer would share the message's memory. */
const copyOf = (bytes: Uint8Array, from: number, to: number): Uint8Array =>
  new Uint8Array(bytes.subarray(from, to))

const writeKey = (bytes: Uint8Array, to: number, key: PartitionKey): void => {
  for (let index = 0; index < KEY_BYTES; index++) {
    bytes[to + index] = Number.parseInt(key.slice(index * 2, index * 2 + 2), 16)
  }
}

/** The bytes of a list of records. */
export const encodeRecords = (records: ReadonlyArray<IndexRecord>): Uint8Array => {
  let length = HEADER_BYTES
  for (const { tag } of records) length += 2 + tag.length + KEY_BYTES
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  view.setUint8(0, LIST_VERSION)
  view.setUint32(1, records.length)
  let offset = HEADER_BYTES
  for (const { key, tag } of records) {
    view.setUint16(offset, tag.length)
    bytes.set(tag, offset + 2)
    writeKey(bytes, offset + 2 + tag.length, key)
    offset += 2 + tag.length + KEY_BYTES
  }
  return bytes
}

/** The records of a list, or what is wrong with it. */
export const decodeRecords = (
  bytes: Uint8Array
): Result.Result<ReadonlyArray<IndexRecord>, TagRefused> => {
  if (bytes.length < HEADER_BYTES) return refuse("A list of records begins with 5 bytes.")
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const version = view.getUint8(0)
  if (version !== LIST_VERSION) return refuse(`Version ${version} of a list is not known; 1 is.`)
  const count = view.getUint32(1)
  if (count > LIST_RECORDS_MAX) return refuse(`${count} records are too many for one list.`)
  const records: Array<IndexRecord> = []
  let offset = HEADER_BYTES
  for (let number = 0; number < count; number++) {
    const length = offset + 2 <= bytes.length ? view.getUint16(offset) : TAG_BYTES_MAX + 1
    const keyFrom = offset + 2 + length
    if (length > TAG_BYTES_MAX || keyFrom + KEY_BYTES > bytes.length) {
      return refuse(`Record ${number} of ${count} is cut or has a tag that is too long.`)
    }
    records.push({ tag: copyOf(bytes, offset + 2, keyFrom), key: readKey(bytes, keyFrom) })
    offset = keyFrom + KEY_BYTES
  }
  if (offset !== bytes.length) return refuse(`${bytes.length - offset} bytes follow the list.`)
  return Result.succeed(records)
}

/** The bytes of a record whose bytewise order is the order of the records; at most 1,058. */
export const encodeRecordKey = ({ key, tag }: IndexRecord): Uint8Array => {
  let zeros = 0
  for (const byte of tag) if (byte === ESCAPE) zeros += 1
  const bytes = new Uint8Array(tag.length + zeros + 2 + KEY_BYTES)
  let offset = 0
  for (const byte of tag) {
    bytes[offset++] = byte
    if (byte === ESCAPE) bytes[offset++] = ESCAPED_ZERO
  }
  bytes[offset++] = ESCAPE
  bytes[offset++] = END_OF_TAG
  writeKey(bytes, offset, key)
  return bytes
}

/** The record of such bytes, or what is wrong with them. */
export const decodeRecordKey = (bytes: Uint8Array): Result.Result<IndexRecord, TagRefused> => {
  const tag: Array<number> = []
  let offset = 0
  while (offset < bytes.length) {
    const byte = bytes[offset]!
    const next = bytes[offset + 1]
    if (byte === ESCAPE && next === END_OF_TAG) break
    if (byte === ESCAPE && next !== ESCAPED_ZERO) return refuse("A zero is not escaped.")
    tag.push(byte)
    offset += byte === ESCAPE ? 2 : 1
  }
  if (tag.length > TAG_BYTES_MAX || offset + 2 + KEY_BYTES !== bytes.length) {
    return refuse("A record key is a tag, its end mark and 32 bytes of key.")
  }
  return Result.succeed({ tag: Uint8Array.from(tag), key: readKey(bytes, offset + 2) })
}
