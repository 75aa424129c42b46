/** A plain file as the catalogue keeps it. */
import { Schema } from "effect"

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const positive = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
)
const uint32 = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4_294_967_295 }))

/** Chunks of one file at most. */
export const fileChunksMax = 16_384

/** File ids that a name remembers beside its file: of puts that did not end, or are to be freed. */
export const fileLeftoversMax = 64

/** A file's name: any text but control characters, like a path or not. */
export const FileName = Schema.String.check(
  // oxlint-disable-next-line no-control-regex
  Schema.isPattern(/^[^\u0000-\u001f\u007f]{1,120}$/, {
    expected: "1 to 120 characters without control characters"
  })
)

/** A stored file. */
export const FileEntry = Schema.Struct({
  name: FileName,
  /** Its chunks are of this file id; a later file of the same name has a higher one. */
  fileId: positive,
  bytes: count,
  /**
   * Of two puts that share a file id the one with the higher attempt stays. It is a file id that
   * was never used otherwise; absent when the put that began the file also ended it.
   */
  attempt: Schema.optionalKey(positive),
  /** SHA-256 of the whole. */
  digest: Schema.Uint8Array,
  /** The ids of its chunks in order. */
  chunks: Schema.Array(uint32).check(Schema.isMaxLength(fileChunksMax)),
  goal: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 15 })),
  /** Nanoseconds since 1970. */
  created: Schema.BigInt
})
/** A stored file. */
export type FileEntry = typeof FileEntry.Type

/** The rank of an entry among those with its file id. */
export const fileAttemptOf = ({ attempt, fileId }: FileEntry): number => attempt ?? fileId
