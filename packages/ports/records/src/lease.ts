/**
 * The Lease port: one small record a shard, kept by compare-and-set. It stores claims and knows no
 * rule: who may claim, and when a claim has lapsed, is decided by the lease core from what it sees
 * change, by the observer's own clock. Nothing here relies on a store that expires keys.
 *
 * 1. `write` succeeds only when the stored revision is the expected one.
 * 2. `list` returns every record, each at a revision that was current during the call.
 */
import type { Effect, Option } from "effect"
import { Context, Schema } from "effect"

/** A claim on a shard. */
export const LeaseRecord = Schema.Struct({
  shard: Schema.String,
  /** The owner, or none when it was released. */
  owner: Schema.Option(Schema.String),
  /** Rises with each change of owner; fences everything written under an older one. */
  epoch: Schema.Natural,
  /** Rises with each renewal; an observer that sees it stand still counts the time itself. */
  beat: Schema.Natural,
  /** A worker that asks for a graceful handoff. */
  wantedBy: Schema.Option(Schema.String),
  /** An operator has paused the shard: its owner lets it go, and nobody takes it. */
  isPaused: Schema.optionalKey(Schema.Boolean)
})
/** A claim on a shard. */
export type LeaseRecord = typeof LeaseRecord.Type

/** A claim as stored, with the revision that the next write must name. */
export interface StoredLease {
  readonly record: LeaseRecord
  readonly revision: bigint
}

/** The stored revision is not the expected one. */
export class LeaseConflict extends Schema.TaggedError<LeaseConflict>()("LeaseConflict", {
  shard: Schema.String,
  message: Schema.String
}) {}

/** The store did not answer, or holds something that cannot be read. */
export class LeaseError extends Schema.TaggedError<LeaseError>()("LeaseError", {
  code: Schema.Literals(["unavailable", "corrupt", "full"]),
  message: Schema.String
}) {}

/** Keeps claims; see the module comment for the promises. */
export class Lease extends Context.Service<
  Lease,
  {
    readonly list: Effect.Effect<ReadonlyArray<StoredLease>, LeaseError>
    /** Writes over `expected`, or as the first one when it is none; answers the new revision. */
    readonly write: (options: {
      readonly record: LeaseRecord
      readonly expected: Option.Option<bigint>
    }) => Effect.Effect<bigint, LeaseConflict | LeaseError>
  }
>()("@holdfast/records/Lease") {}
