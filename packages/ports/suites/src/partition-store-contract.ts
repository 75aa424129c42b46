/** What an adapter says of itself to the PartitionStore contract. */
import type { PartitionStore, PartitionStoreError } from "@holdfast/storage"
import type { Effect, Layer, Scope } from "effect"

/** One store's storage, which can be opened any number of times. */
export interface PartitionStorage {
  /** Opens the store on this storage. */
  readonly layer: Layer.Layer<PartitionStore, PartitionStoreError>
}

/** How to reach the adapter under test, and how to harm its storage. */
export interface PartitionStoreContract<Storage extends PartitionStorage> {
  readonly name: string
  /** Fresh, empty storage for one test. */
  readonly storage: Effect.Effect<Storage, unknown, Scope.Scope>
  /** Changes a byte of a stored partition's state. The store is closed. */
  readonly damage?: (
    storage: Storage,
    address: { readonly application: string; readonly key: string }
  ) => Effect.Effect<void, unknown>
  /** Makes an open store's storage refuse a few megabytes, and gives the room back. */
  readonly room?: {
    readonly take: (storage: Storage) => Effect.Effect<void, unknown>
    readonly giveBack: (storage: Storage) => Effect.Effect<void, unknown>
  }
}
