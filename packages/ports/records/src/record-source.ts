/**
 * The RecordSource port: ordered shards of records.
 *
 * What a caller may rely on, whatever the adapter:
 * 1. A shard's positions strictly increase; a position names the same record for ever.
 * 2. `open` with `after` yields exactly the records above it, none skipped without a gap that says
 *    so.
 * 3. `next` returns within its `wait`, with fewer records or none; it never holds records back.
 * 4. Records read and not acknowledged come again after a crash; acknowledging is by watermark.
 */
import type { Duration, Effect, Option, Scope } from "effect"
import { Context, Schema } from "effect"

/** A header as bytes, name and value; names may repeat and their order is kept. */
export type RecordHeader = readonly [name: Uint8Array, value: Uint8Array]

/** One record as its source holds it. */
export interface SourceRecord {
  readonly position: bigint
  /** Nanoseconds since 1970 as the source stamped them, 0 when it has none. */
  readonly timestamp: bigint
  readonly subject: Uint8Array
  readonly headers: ReadonlyArray<RecordHeader>
  readonly data: Uint8Array
}

/** Positions that the source no longer has (retention, purge, deletion), both ends included. */
export interface Gap {
  readonly from: bigint
  readonly to: bigint
}

/** What one `next` brought. */
export interface RecordBatch {
  readonly records: ReadonlyArray<SourceRecord>
  readonly gaps: ReadonlyArray<Gap>
  /** The newest position that the source is known to hold; none when it cannot tell. */
  readonly newest: Option.Option<bigint>
  /** No record will ever follow: a file's end, a closed shard. */
  readonly endOfShard: boolean
}

/** A shard that a worker may own. */
export interface Shard {
  /** At most 255 bytes; unique within the source. */
  readonly shard: string
  /** The stream (or file) it belongs to. */
  readonly stream: string
}

/** Bounds of one `next`; the first record is returned whatever its size. */
export interface NextOptions {
  readonly maxRecords: number
  readonly maxBytes: number
  readonly wait: Duration.Input
}

/** Reads one shard in order. */
export interface ShardReader {
  readonly next: (options: NextOptions) => Effect.Effect<RecordBatch, RecordSourceError>
  /** Tells the source that everything up to the position is archived; it may forget that. */
  readonly acknowledge: (upTo: bigint) => Effect.Effect<void, RecordSourceError>
}

/**
 * A source could not be read. `unavailable` may pass; `not-found`, `denied` and `unsupported` will
 * not; `malformed` names where the input is wrong; `too-large` names the record over a limit.
 */
export class RecordSourceError extends Schema.TaggedError<RecordSourceError>()(
  "RecordSourceError",
  {
    code: Schema.Literals([
      "unavailable",
      "not-found",
      "denied",
      "unsupported",
      "malformed",
      "too-large"
    ]),
    message: Schema.String
  }
) {}

/** Where records come from; see the module comment for the promises. */
export class RecordSource extends Context.Service<
  RecordSource,
  {
    /** The shards there are now; it is asked again at intervals. */
    readonly shards: Effect.Effect<ReadonlyArray<Shard>, RecordSourceError>
    /** Opens one shard strictly after a position, or at its oldest record. */
    readonly open: (options: {
      readonly shard: string
      readonly after: Option.Option<bigint>
    }) => Effect.Effect<ShardReader, RecordSourceError, Scope.Scope>
  }
>()("@holdfast/records/RecordSource") {}
