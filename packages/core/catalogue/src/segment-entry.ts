/** A sealed segment as the catalogue keeps it. */
import { Schema } from "effect"
import { ArchiveName } from "./archive-settings.ts"
import { canonicalBytesMax } from "./tag-values.ts"

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const positive = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
)
const uint32 = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_294_967_295 }))
const position = Schema.BigInt.check(
  Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 256n - 1n })
)
const time = Schema.BigInt.check(
  Schema.isBetweenBigInt({ minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n })
)

/** Where a segment's bytes are: a chunk at one version. */
export const SegmentChunk = Schema.Struct({
  fileId: positive,
  chunkId: uint32,
  version: positive,
  length: uint32,
  checksum: uint32
})
/** Where a segment's bytes are. */
export type SegmentChunk = typeof SegmentChunk.Type

/** The values of one tag within a segment; overflowed: it may hold any. */
export const SegmentTag = Schema.Struct({
  name: Schema.String.check(Schema.isMaxLength(32)),
  overflowed: Schema.Boolean,
  values: Schema.Array(
    Schema.Uint8Array.check(
      Schema.makeFilter(
        ({ length }) => length <= canonicalBytesMax || `at most ${canonicalBytesMax} bytes`
      )
    )
  ).check(Schema.isMaxLength(256))
})
/** The values of one tag within a segment. */
export type SegmentTag = typeof SegmentTag.Type

/** A sealed segment. */
export const SegmentEntry = Schema.Struct({
  archive: ArchiveName,
  /** At most 255 bytes. */
  shard: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(255)),
  first: position,
  last: position,
  /** Every record that the shard has between the first and the last position is in it. */
  complete: Schema.Boolean,
  count: positive,
  rawBytes: count,
  storedBytes: count,
  timeMin: time,
  timeMax: time,
  chunk: SegmentChunk,
  /** SHA-256 of the file, as the file says it. */
  digest: Schema.Uint8Array,
  tags: Schema.Array(SegmentTag).check(Schema.isMaxLength(32)),
  /** The archive's count of tag rules under which it was sealed. */
  rules: count
}).check(
  Schema.makeFilter(
    ({ first, last, timeMax, timeMin }) =>
      (first <= last && timeMin <= timeMax) || "a first position and time not after the last"
  )
)
/** A sealed segment. */
export type SegmentEntry = typeof SegmentEntry.Type
