/** The expected errors of the client. Each says in a sentence what happened. */
import type { SegmentChunk } from "@holdfast/catalogue"
import type { ByteRange } from "@holdfast/segment"
import { Data } from "effect"

/**
 * A service did not do what it was asked, after retries where those could help.
 *
 * `code` is the service's own word, or one of the transport's (`timeout`, `no-responders`, ...), or
 * `protocol`. With `retryable` the same request may succeed later.
 */
export class CallFailed extends Data.TaggedError("CallFailed")<{
  readonly service: string
  readonly operation: string
  readonly code: string
  readonly retryable: boolean
  readonly message: string
}> {}

/** Why one holder did not give a chunk's bytes. */
export interface HolderFailure {
  readonly deviceId: string
  readonly reason: string
}

/** No holder gave the bytes of a chunk, or no version as asked for is known. */
export class ChunkUnreadable extends Data.TaggedError("ChunkUnreadable")<{
  readonly chunk: SegmentChunk
  readonly range: ByteRange | undefined
  readonly holders: ReadonlyArray<HolderFailure>
  readonly message: string
}> {}

/** A chunk did not get as many durable copies as it must have. */
export class ChunkUnwritten extends Data.TaggedError("ChunkUnwritten")<{
  readonly fileId: number
  readonly stored: number
  readonly wanted: number
  readonly holders: ReadonlyArray<HolderFailure>
  readonly message: string
}> {}

/** Peers could not answer for these ranges of partition keys: what was found may not be all. */
export class CatalogueIncomplete extends Data.TaggedError("CatalogueIncomplete")<{
  readonly missing: ReadonlyArray<readonly [from: string, to: string]>
  readonly message: string
}> {}

/** The catalogue refused an event; `reason` is its word for it. */
export class CatalogueRefused extends Data.TaggedError("CatalogueRefused")<{
  readonly reason: string
  readonly message: string
}> {}

/** There is no archive of the name. */
export class ArchiveNotFound extends Data.TaggedError("ArchiveNotFound")<{
  readonly archive: string
  readonly message: string
}> {}

/** There is no plain file of the name. */
export class FileNotFound extends Data.TaggedError("FileNotFound")<{
  readonly file: string
  readonly message: string
}> {}

/** The chunks of a plain file are there but do not make up what was stored. */
export class FileDamaged extends Data.TaggedError("FileDamaged")<{
  readonly file: string
  readonly message: string
}> {}

/** What was asked for cannot be: an unknown tag, a value of the wrong kind, bad settings. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  readonly message: string
}> {}

/**
 * A replay ended before its last record; `code` is the target's word for it. What was published is
 * in the target, and the same replay goes on behind it.
 */
export class ReplayStopped extends Data.TaggedError("ReplayStopped")<{
  readonly code: string
  readonly published: number
  readonly message: string
}> {}

/** A segment's file is there but is not what was sealed: the records named are lost with it. */
export class SegmentUnreadable extends Data.TaggedError("SegmentUnreadable")<{
  readonly archive: string
  readonly shard: string
  readonly first: bigint
  readonly last: bigint
  readonly message: string
}> {}

/** Everything that asking the catalogue may fail with. */
export type CatalogueError = CallFailed | CatalogueIncomplete
/** Everything that reading records may fail with. */
export type ReadError = CatalogueError | ChunkUnreadable | SegmentUnreadable | ArchiveNotFound
