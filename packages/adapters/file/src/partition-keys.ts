/**
 * The keys and values of a partition store.
 *
 *     partitions   application 00 key(32)                     -> checksum, tags, state
 *     tags         application 00 tag(escaped) 00 01 key(32)  -> nothing
 *
 * In an escaped tag each 00 is 00 ff, so that the bytewise order of the table is the order of
 * (tag, key), and a shorter tag stands before what it begins.
 */
import type { TagRecord } from "@holdfast/storage"
import { endOfName, namedKey, splitNamedKey } from "./byte-keys.ts"

/** Bytes of a partition key. */
const KEY_BYTES = 32
const ZERO = 0x00
const ESCAPED_ZERO = 0xff
const END_OF_TAG = 0x01

/** The table key of a partition. */
export const partitionKey = (application: string, key: string): Buffer =>
  namedKey(application, Buffer.from(key, "hex"))

/** The 64 digits at the end of a table key of either kind. */
export const digitsOf = (tableKey: Buffer): string =>
  tableKey.toString("hex", tableKey.length - KEY_BYTES)

const escapeTag = (tag: Uint8Array): Buffer => {
  if (!tag.includes(ZERO)) return Buffer.from(tag)
  const escaped: Array<number> = []
  for (const byte of tag) {
    escaped.push(byte)
    if (byte === ZERO) escaped.push(ESCAPED_ZERO)
  }
  return Buffer.from(escaped)
}

const unescapeTag = (escaped: Uint8Array): Uint8Array =>
  escaped.includes(ZERO)
    ? escaped.filter((byte, index) => byte !== ESCAPED_ZERO || escaped[index - 1] !== ZERO)
    : new Uint8Array(escaped)

/** The table key of an index record. */
export const tagKey = (application: string, tag: Uint8Array, key: string): Buffer =>
  namedKey(
    application,
    Buffer.concat([escapeTag(tag), Buffer.of(ZERO, END_OF_TAG), Buffer.from(key, "hex")])
  )

/** The index record of a table key. */
export const tagRecordOf = (tableKey: Buffer): TagRecord => {
  const { rest } = splitNamedKey(tableKey)
  const escaped = rest.subarray(0, rest.length - KEY_BYTES - 2)
  return { tag: unescapeTag(escaped), key: digitsOf(tableKey) }
}

/** The smallest table key of an application above every record of a tag, or of all its tags. */
export const endOfTags = (application: string, upTo: Uint8Array | undefined): Buffer =>
  upTo === undefined
    ? endOfName(application)
    : namedKey(application, Buffer.concat([escapeTag(upTo), Buffer.of(ZERO, END_OF_TAG + 1)]))

/** A partition as stored: its tags, without repeats, and its state. */
export interface PartitionValue {
  readonly tags: ReadonlyArray<Uint8Array>
  readonly state: Uint8Array
}

/**
 * Bytes of a partition's tags and state: count (2), then each length (2) and tag, then the state.
 */
export const encodePartition = ({ state, tags }: PartitionValue): Buffer => {
  const head = Buffer.allocUnsafe(2 + tags.reduce((sum, tag) => sum + 2 + tag.length, 0))
  head.writeUInt16BE(tags.length, 0)
  let offset = 2
  for (const tag of tags) {
    head.writeUInt16BE(tag.length, offset)
    head.set(tag, offset + 2)
    offset += 2 + tag.length
  }
  return Buffer.concat([head, state])
}

/** The tags and the state of such bytes; both are copies. */
export const decodePartition = (value: Uint8Array): PartitionValue => {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
  const tags: Array<Uint8Array> = []
  let offset = 2
  for (let count = bytes.readUInt16BE(0); count > 0; count--) {
    const end = offset + 2 + bytes.readUInt16BE(offset)
    tags.push(new Uint8Array(bytes.subarray(offset + 2, end)))
    offset = end
  }
  return { tags, state: new Uint8Array(bytes.subarray(offset)) }
}
