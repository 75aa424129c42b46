/** What an adapter says of itself to the RecordSource contract. */
import type { NewRecord, RecordSource } from "@holdfast/records"
import type { Effect, Layer, Scope } from "effect"

/** One shard's storage, and the source that reads it. */
export interface SourceStorage {
  readonly layer: Layer.Layer<RecordSource, unknown>
  /** The shard that `put` fills; it is listed once it holds a record. */
  readonly shard: string
}

/** What of a record an adapter keeps besides its data. */
export type KeptField = "timestamp" | "subject" | "headers"

/** How to reach the adapter under test, and how to change what it reads. */
export interface RecordSourceContract<Storage extends SourceStorage> {
  readonly name: string
  /** A fresh, empty shard for one test. */
  readonly storage: Effect.Effect<Storage, unknown, Scope.Scope>
  /** Adds records to the shard. */
  readonly put: (
    storage: Storage,
    records: ReadonlyArray<NewRecord>
  ) => Effect.Effect<void, unknown>
  /** What `put` gives to the source and the source gives back; all of it when absent. */
  readonly keeps?: ReadonlyArray<KeptField>
  /** Whether `next` sees records that are put while it waits. */
  readonly grows: boolean
  /** Makes the source forget everything up to a position. */
  readonly purge?: (storage: Storage, upTo: bigint) => Effect.Effect<void, unknown>
  /** Makes the source forget one record. */
  readonly remove?: (storage: Storage, position: bigint) => Effect.Effect<void, unknown>
  /** Ends the shard. */
  readonly end?: (storage: Storage) => Effect.Effect<void, unknown>
}
