/** What an adapter says of itself to the ChunkDevices contract. */
import type { ChunkName } from "@holdfast/storage"
import type { Effect, Scope } from "effect"
import type { DeviceStorage } from "./devices.ts"

/** How to reach the adapter under test, and how to harm its storage. */
export interface ChunkDevicesContract<Storage extends DeviceStorage> {
  readonly name: string
  /** A fresh disk for one test. */
  readonly storage: Effect.Effect<Storage, unknown, Scope.Scope>
  /** Changes the byte at an offset of a copy's data, behind the device's back. */
  readonly damage?: (
    storage: Storage,
    place: { readonly name: string; readonly chunk: ChunkName; readonly offset: number }
  ) => Effect.Effect<void, unknown>
  /** Makes the next act on the disk fail with an I/O error. */
  readonly failNext?: (storage: Storage) => Effect.Effect<void, unknown>
}
