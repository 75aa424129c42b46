/**
 * The PartitionStore port: a peer's partitions with their index, and its own small facts.
 *
 * 1. `commit` is one durable transaction: all its writes, or none; answered when durable.
 * 2. A partition's index records change in the transaction that changes its state.
 * 3. `scan` walks (application, key) in order; `page` walks (tag, key) in order, bytewise.
 * 4. A record whose checksum is wrong is reported as `corrupt` with its key; the others are served.
 * 5. One process at a time: opening a store that another process holds fails.
 */
import type { Effect, Option } from "effect"
import { Context, Schema } from "effect"

/** A partition's address: an application's name and 64 lower-case hex digits. */
export interface PartitionAddress {
  readonly application: string
  readonly key: string
}

/** One change inside a commit. */
export interface PartitionWrite extends PartitionAddress {
  /** The encoded state, or none to forget the partition and all its tags. */
  readonly state: Option.Option<Uint8Array>
  /** The complete set of tags the partition has after this write; earlier ones are removed. */
  readonly tags: ReadonlyArray<Uint8Array>
}

/** A small fact of the peer itself (identity, boot number, cluster state). */
export interface FactWrite {
  readonly name: string
  readonly value: Uint8Array
}

/** A stored partition, or the name of one that cannot be read. */
export type StoredPartition =
  | { readonly _tag: "Intact"; readonly key: string; readonly state: Uint8Array }
  | { readonly _tag: "Corrupt"; readonly key: string; readonly reason: string }

/** An entry of the index. */
export interface TagRecord {
  readonly tag: Uint8Array
  readonly key: string
}

/** A range of partition keys, both ends included, as hex digits. */
export type KeyRange = readonly [from: string, to: string]

/** A store failed; codes as in the journal's errors. */
export class PartitionStoreError extends Schema.TaggedError<PartitionStoreError>()(
  "PartitionStoreError",
  {
    code: Schema.Literals(["full", "corrupt", "locked", "unavailable", "too-large"]),
    message: Schema.String
  }
) {}

/** Keeps a peer's partitions; see the module comment for the promises. */
export class PartitionStore extends Context.Service<
  PartitionStore,
  {
    readonly load: (
      address: PartitionAddress
    ) => Effect.Effect<Option.Option<StoredPartition>, PartitionStoreError>
    readonly commit: (options: {
      readonly partitions: ReadonlyArray<PartitionWrite>
      readonly facts: ReadonlyArray<FactWrite>
    }) => Effect.Effect<void, PartitionStoreError>
    /** Partitions of one application in key order, strictly after `after`, at most `limit`. */
    readonly scan: (options: {
      readonly application: string
      readonly after: Option.Option<string>
      readonly ranges: ReadonlyArray<KeyRange>
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<StoredPartition>, PartitionStoreError>
    /** Index records of one application strictly after `after`, in order, at most `limit`. */
    readonly page: (options: {
      readonly application: string
      readonly after: Option.Option<TagRecord>
      /** Only tags up to and including this one. */
      readonly upTo: Option.Option<Uint8Array>
      /** Only keys inside one of these ranges. */
      readonly ranges: ReadonlyArray<KeyRange>
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<TagRecord>, PartitionStoreError>
    readonly fact: (name: string) => Effect.Effect<Option.Option<Uint8Array>, PartitionStoreError>
    /** How many partitions each application has, and their bytes. */
    readonly size: Effect.Effect<
      ReadonlyArray<{
        readonly application: string
        readonly partitions: number
        readonly bytes: number
      }>,
      PartitionStoreError
    >
  }
>()("@holdfast/storage/PartitionStore") {}
