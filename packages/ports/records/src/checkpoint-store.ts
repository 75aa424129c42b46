/**
 * The CheckpointStore port: how far a shard is finished, kept by compare-and-set.
 *
 * 1. `save` succeeds only when the stored revision is the expected one; otherwise nothing changes
 *    and the answer is a `CheckpointConflict`: somebody else owns the shard now.
 * 2. A save that was answered survives a crash of the process and of the store's process.
 * 3. Revisions of one shard strictly increase.
 */
import type { Effect, Option } from "effect"
import { Context, Schema } from "effect"

/** A shard's progress. */
export const Checkpoint = Schema.Struct({
  /** Everything up to here has a disposition; none when nothing has. */
  position: Schema.Option(Schema.BigInt),
  /** What is finished above the position, in the disposition package's codec. */
  completionMap: Schema.Uint8Array,
  /** The lease epoch under which it was written. */
  epoch: Schema.Natural,
  /** The worker that wrote it. */
  owner: Schema.String
})
/** A shard's progress. */
export type Checkpoint = typeof Checkpoint.Type

/** A checkpoint as stored, with the revision that the next save must name. */
export interface StoredCheckpoint {
  readonly checkpoint: Checkpoint
  readonly revision: bigint
}

/** The stored revision is not the expected one: another writer came first. */
export class CheckpointConflict extends Schema.TaggedError<CheckpointConflict>()(
  "CheckpointConflict",
  { shard: Schema.String, message: Schema.String }
) {}

/** The store did not answer, or holds something that cannot be read (`corrupt`). */
export class CheckpointStoreError extends Schema.TaggedError<CheckpointStoreError>()(
  "CheckpointStoreError",
  {
    code: Schema.Literals(["unavailable", "corrupt", "full", "too-large"]),
    shard: Schema.String,
    message: Schema.String
  }
) {}

/** Keeps checkpoints; see the module comment for the promises. */
export class CheckpointStore extends Context.Service<
  CheckpointStore,
  {
    readonly load: (
      shard: string
    ) => Effect.Effect<Option.Option<StoredCheckpoint>, CheckpointStoreError>
    /** Saves over `expected`, or as the first one when it is none; answers the new revision. */
    readonly save: (options: {
      readonly shard: string
      readonly checkpoint: Checkpoint
      readonly expected: Option.Option<bigint>
    }) => Effect.Effect<bigint, CheckpointConflict | CheckpointStoreError>
  }
>()("@holdfast/records/CheckpointStore") {}
