/**
 * The ReplayTarget port: a stream that archived records are published to again.
 *
 * What a caller may rely on, whatever the adapter:
 * 1. Records are stored in turn: one is in the target only if every record that was published
 *    before it by the same run is, or was. What breaks off leaves a beginning of the run.
 * 2. A record whose id the target still remembers adds nothing.
 * 3. `earlier` tells the ids of what earlier runs brought, the newest first. What the target has
 *    forgotten since may be missing, but never in front of something older that is told.
 */
import type { Effect, Stream } from "effect"
import { Schema } from "effect"
import type { RecordHeader } from "./record-source.ts"

/** A record to publish again. */
export interface ReplayRecord {
  /** The same for every run that brings it: printable ASCII, at most 1,024 bytes. */
  readonly id: string
  /** Nanoseconds since 1970 as the archive has it; not every target can keep it. */
  readonly timestamp: bigint
  readonly subject: Uint8Array
  readonly headers: ReadonlyArray<RecordHeader>
  readonly data: Uint8Array
}

/**
 * The target did not take everything. `unavailable` may pass; `full` is a limit of the target,
 * `refused` its word against one record or all; `invalid` names what can never be sent; `denied` is
 * a matter of permissions; `not-found`: there is no such stream.
 */
export class ReplayTargetError extends Schema.TaggedError<ReplayTargetError>()(
  "ReplayTargetError",
  {
    code: Schema.Literals(["unavailable", "full", "refused", "invalid", "denied", "not-found"]),
    /** Leading records of the batch that are stored for certain. */
    stored: Schema.Natural,
    message: Schema.String
  }
) {}

/** Takes replayed records; see the module comment for the promises. */
export interface ReplayTarget {
  /** What the target is called, for people. */
  readonly name: string
  /** Ids of earlier runs, newest first; ids of anything else may be among them. */
  readonly earlier: Stream.Stream<ReadonlyArray<string>, ReplayTargetError>
  /** Stores a batch durably; tries again by itself where that can help. */
  readonly publish: (
    records: ReadonlyArray<ReplayRecord>
  ) => Effect.Effect<{ readonly duplicates: number }, ReplayTargetError>
}
