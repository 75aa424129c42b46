/** A user record that waits in an aggregator: its size in the message, and its writing. */
import { recordField, tagField } from "./format.ts"
import { encodeUtf8 } from "./utf8.ts"
import type { Tag } from "./user-record.ts"
import { fieldBytes, integerFieldBytes, type WireWriter } from "./wire-writer.ts"

/** A tag with its texts encoded. */
interface PendingTag {
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
  readonly bytes: number
}

/** A user record by the indexes of its keys. */
export interface PendingRecord {
  readonly partitionKeyIndex: number
  readonly explicitHashKeyIndex: number | undefined
  readonly data: Uint8Array
  readonly tags: ReadonlyArray<PendingTag>
  /** Bytes of its fields, without the tag and the length before them. */
  readonly bytes: number
}

const pendingTag = (tag: Tag): PendingTag => {
  const key = encodeUtf8(tag.key)
  const value = tag.value === undefined ? undefined : encodeUtf8(tag.value)
  const bytes = fieldBytes(key.length) + (value === undefined ? 0 : fieldBytes(value.length))
  return { key, value, bytes }
}

const noPendingTags: ReadonlyArray<PendingTag> = []

/** Prepares a record and counts its bytes exactly. */
export const pendingRecord = (record: {
  readonly partitionKeyIndex: number
  readonly explicitHashKeyIndex: number | undefined
  readonly data: Uint8Array
  readonly tags: ReadonlyArray<Tag>
}): PendingRecord => {
  const { data, explicitHashKeyIndex, partitionKeyIndex } = record
  const tags = record.tags.length === 0 ? noPendingTags : record.tags.map(pendingTag)
  let bytes = integerFieldBytes(partitionKeyIndex) + fieldBytes(data.length)
  if (explicitHashKeyIndex !== undefined) bytes += integerFieldBytes(explicitHashKeyIndex)
  for (const tag of tags) bytes += fieldBytes(tag.bytes)
  return { partitionKeyIndex, explicitHashKeyIndex, data, tags, bytes }
}

/** Writes the fields of a record in the order of their numbers. */
export const writeRecord = (writer: WireWriter, record: PendingRecord): void => {
  writer.integerField(recordField.partitionKeyIndex, record.partitionKeyIndex)
  if (record.explicitHashKeyIndex !== undefined) {
    writer.integerField(recordField.explicitHashKeyIndex, record.explicitHashKeyIndex)
  }
  writer.field(recordField.data, record.data)
  for (const { bytes, key, value } of record.tags) {
    writer.fieldStart(recordField.tag, bytes)
    writer.field(tagField.key, key)
    if (value !== undefined) writer.field(tagField.value, value)
  }
}
