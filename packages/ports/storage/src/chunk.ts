/** What names a chunk and describes its bytes, as devices and the data path say it. */
import { Schema } from "effect"

const uint32 = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_294_967_295 }))
const positiveInteger = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
)

/** A chunk at one version: (file id, chunk id) names it, versions are never used twice. */
export const ChunkName = Schema.Struct({
  fileId: positiveInteger,
  chunkId: uint32,
  version: positiveInteger
})
/** A chunk at one version. */
export type ChunkName = typeof ChunkName.Type

/** A chunk with its length in bytes and the CRC-32 of all of them. */
export const ChunkDescription = Schema.Struct({
  ...ChunkName.fields,
  length: uint32,
  checksum: uint32
})
/** A chunk with its length and checksum. */
export type ChunkDescription = typeof ChunkDescription.Type

/** A range of a chunk's bytes: `end` is exclusive. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}
