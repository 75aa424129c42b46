/**
 * Reading the protobuf message inside an envelope.
 *
 *     message AggregatedRecord {               message Record {
 *       repeated string partition_key_table      required uint64 partition_key_index = 1;
 *         = 1;                                   optional uint64 explicit_hash_key_index = 2;
 *       repeated string explicit_hash_key_table  required bytes data = 3;
 *         = 2;                                   repeated Tag tags = 4;
 *       repeated Record records = 3;           }
 *     }                                        message Tag {
 *                                                required string key = 1;
 *                                                optional string value = 2;
 *                                              }
 *
 * Two walks: the first decodes each entry of the tables once and counts the records, so that
 * limits are met before anything is allocated for them and the order of the fields does not
 * matter; the second makes the records. A fault anywhere gives up the whole message.
 */
import { messageField, recordField, tagField } from "./format.ts"
import type { ReadLimits } from "./limits.ts"
import { type Plain, plain } from "./plain.ts"
import { noTags, type Tag, type UserRecord } from "./user-record.ts"
import { decodeUtf8 } from "./utf8.ts"
import { WireReader } from "./wire-reader.ts"

/** Where a message lies. */
export interface Range {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

interface Tables {
  readonly partitionKeys: ReadonlyArray<string>
  readonly explicitHashKeys: ReadonlyArray<string>
  readonly records: number
}

const readText = (reader: WireReader): string => {
  const length = reader.length()
  const start = reader.offset
  reader.offset += length
  return decodeUtf8(reader.bytes, start, start + length)
}

const malformed = (reader: WireReader): Plain | undefined =>
  reader.fault === undefined ? undefined : plain(reader.fault, reader.faultAt)

const readTables = (range: Range, limits: ReadLimits): Tables | Plain => {
  const reader = new WireReader(range.bytes, range.start, range.end)
  const partitionKeys: Array<string> = []
  const explicitHashKeys: Array<string> = []
  let records = 0
  while (reader.offset < reader.end) {
    const start = reader.offset
    const tag = reader.tag()
    if (tag === messageField.record) {
      records++
      if (records > limits.records) return plain("TooManyRecords", start)
      reader.skip(tag)
    } else if (tag === messageField.partitionKey) partitionKeys.push(readText(reader))
    else if (tag === messageField.explicitHashKey) explicitHashKeys.push(readText(reader))
    else reader.skip(tag)
  }
  return malformed(reader) ?? { partitionKeys, explicitHashKeys, records }
}

const readTag = (reader: WireReader): Tag => {
  const start = reader.offset
  const outerEnd = reader.end
  reader.end = reader.length() + reader.offset
  let key: string | undefined
  let value: string | undefined
  while (reader.offset < reader.end) {
    const tag = reader.tag()
    if (tag === tagField.key) key = readText(reader)
    else if (tag === tagField.value) value = readText(reader)
    else reader.skip(tag)
  }
  reader.end = outerEnd
  if (key === undefined) reader.fail("MissingField", start)
  return { key: key ?? "", value }
}

/** Reads the fields of one record; what it answers counts only when the reader has no fault. */
const readRecord = (reader: WireReader, tables: Tables, tagsMax: number): UserRecord => {
  const start = reader.offset
  const outerEnd = reader.end
  reader.end = reader.length() + reader.offset
  let keyIndex = -1
  let hashKeyIndex = -1
  let dataStart = -1
  let dataLength = 0
  let tags: Array<Tag> | undefined
  while (reader.offset < reader.end) {
    const tag = reader.tag()
    if (tag === recordField.partitionKeyIndex) keyIndex = reader.varint()
    else if (tag === recordField.explicitHashKeyIndex) hashKeyIndex = reader.varint()
    else if (tag === recordField.data) {
      dataLength = reader.length()
      dataStart = reader.offset
      reader.offset += dataLength
    } else if (tag === recordField.tag) {
      tags ??= []
      tags.push(readTag(reader))
      if (tags.length > tagsMax) reader.fail("TooManyTags", start)
    } else reader.skip(tag)
  }
  reader.end = outerEnd
  if (keyIndex < 0 || dataStart < 0) reader.fail("MissingField", start)
  const partitionKey = tables.partitionKeys[keyIndex]
  if (partitionKey === undefined) reader.fail("PartitionKeyIndex", start)
  const explicitHashKey = hashKeyIndex < 0 ? undefined : tables.explicitHashKeys[hashKeyIndex]
  if (hashKeyIndex >= 0 && explicitHashKey === undefined) reader.fail("ExplicitHashKeyIndex", start)
  // Not `subarray`: on a Node `Buffer` that makes another `Buffer`, at twice the cost.
  const { buffer, byteOffset } = reader.bytes
  const data = new Uint8Array(buffer, byteOffset + Math.max(dataStart, 0), dataLength)
  return { partitionKey: partitionKey ?? "", explicitHashKey, data, tags: tags ?? noTags }
}

/** The user records of a message in their order, or why it has to be taken as plain. */
export const readMessage = (
  range: Range,
  limits: ReadLimits
): ReadonlyArray<UserRecord> | Plain => {
  const tables = readTables(range, limits)
  if ("_tag" in tables) return tables
  const reader = new WireReader(range.bytes, range.start, range.end)
  const records: Array<UserRecord> = []
  let tagsLeft = limits.tags
  while (reader.offset < reader.end) {
    const tag = reader.tag()
    if (tag !== messageField.record) {
      reader.skip(tag)
      continue
    }
    const record = readRecord(reader, tables, tagsLeft)
    if (reader.fault !== undefined) break
    tagsLeft -= record.tags.length
    records.push(record)
  }
  return malformed(reader) ?? records
}
