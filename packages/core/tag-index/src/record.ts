/**
 * Index records and their one order: by tag, bytewise, a prefix before what it begins; then by key.
 */
import { Schema } from "effect"

/** Bytes of the longest tag. */
export const TAG_BYTES_MAX = 512

/** A 256-bit partition key as exactly 64 lower-case hexadecimal digits. */
export const PartitionKey = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^[0-9a-f]{64}$/)),
  Schema.brand("PartitionKey")
)
/** A 256-bit partition key as exactly 64 lower-case hexadecimal digits. */
export type PartitionKey = typeof PartitionKey.Type

/** The smallest key. */
export const FIRST_KEY: PartitionKey = PartitionKey.make("0".repeat(64))

/** A tag: up to 512 bytes of any value, ordered bytewise. */
export const Tag = Schema.Uint8Array.pipe(
  Schema.check(
    Schema.makeFilter((tag: Uint8Array) =>
      tag.length <= TAG_BYTES_MAX ? undefined : `a tag of at most ${TAG_BYTES_MAX} bytes`
    )
  )
)
/** A tag: up to 512 bytes of any value, ordered bytewise. */
export type Tag = typeof Tag.Type

/** One entry of the index: a partition carries a tag. */
export const IndexRecord = Schema.Struct({ tag: Tag, key: PartitionKey })
/** One entry of the index: a partition carries a tag. */
export type IndexRecord = typeof IndexRecord.Type

/** A tag, a list of records or a piece of text that is refused, and what would be right. */
export class TagRefused extends Schema.TaggedError<TagRefused>()("TagRefused", {
  code: Schema.Literals(["too-long", "malformed"]),
  message: Schema.String
}) {}

/** Orders tags bytewise: negative, zero or positive. */
export const compareTags = (a: Tag, b: Tag): number => {
  const shared = Math.min(a.length, b.length)
  for (let index = 0; index < shared; index++) {
    const difference = a[index]! - b[index]!
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Orders records by tag and then by key: negative, zero or positive. */
export const compareRecords = (a: IndexRecord, b: IndexRecord): number =>
  compareTags(a.tag, b.tag) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
