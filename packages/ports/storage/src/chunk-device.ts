/**
 * The ChunkDevice port: one directory on one disk that holds chunk copies.
 *
 *     begin ──▶ write* ──▶ finish: fsync, rename, fsync of the directory ──▶ a copy
 *                    └───▶ abort (also when the scope closes first): nothing remains
 *
 * 1. A copy is answered only when its bytes and its name are durable.
 * 2. A read verifies each block before its bytes leave; a mismatch is `corrupt`, never bytes.
 * 3. A write that would pass the hard floor of free space is refused before any byte is taken.
 * 4. The identity is immutable. A directory without one is an unmounted disk: nothing is written.
 *    Only `format`, a separate act, makes one.
 * 5. One process at a time holds a device; each opening raises its epoch durably.
 * 6. A failed check (`unavailable`: too many open files, an I/O error) is not a corrupt copy.
 */
import type { Effect, Option, Scope, Stream } from "effect"
import { Context, Schema } from "effect"
import type { ByteRange, ChunkDescription, ChunkName } from "./chunk.ts"

/** What a device is, written once when it is formatted. */
export const DeviceIdentity = Schema.Struct({
  formatVersion: Schema.Natural,
  clusterId: Schema.String,
  deviceId: Schema.String,
  /** ISO 8601. */
  created: Schema.String
})
/** What a device is. */
export type DeviceIdentity = typeof DeviceIdentity.Type

/** A device's room, in bytes. */
export interface DeviceUsage {
  readonly capacity: number
  /** Bytes of finished copies. */
  readonly used: number
  /** Bytes that may still be written above the hard floor. */
  readonly available: number
  readonly copies: number
}

/** A stored copy as found on the disk. */
export type StoredCopy =
  | ({ readonly _tag: "Intact" } & ChunkDescription)
  | { readonly _tag: "Damaged"; readonly file: string; readonly reason: string }

/**
 * A device refused. `full`: the hard floor or the disk. `not-found`: no such copy. `corrupt`: a
 * checksum or header is wrong. `not-formatted`: no identity file. `foreign`: another cluster's or
 * device's. `locked`: another process holds it. `unavailable`: an I/O error, retry later.
 * `exists`: this version is here already with other bytes. `out-of-range`: past the copy's end.
 */
export class ChunkDeviceError extends Schema.TaggedError<ChunkDeviceError>()("ChunkDeviceError", {
  code: Schema.Literals([
    "full",
    "not-found",
    "corrupt",
    "not-formatted",
    "foreign",
    "locked",
    "unavailable",
    "exists",
    "out-of-range",
    "closed"
  ]),
  deviceId: Schema.String,
  message: Schema.String
}) {}

/** A copy being written. */
export interface ChunkWriter {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, ChunkDeviceError>
  /** Makes the copy durable and answers what it is. */
  readonly finish: Effect.Effect<ChunkDescription, ChunkDeviceError>
}

/** One open device. */
export interface OpenDevice {
  readonly identity: DeviceIdentity
  /** Rises with each opening; fences whatever was said under an older one. */
  readonly epoch: number
  readonly usage: Effect.Effect<DeviceUsage, ChunkDeviceError>
  /** Starts a copy of at most `expectedBytes`; the room is reserved until it ends. */
  readonly begin: (options: {
    readonly chunk: ChunkName
    readonly expectedBytes: number
  }) => Effect.Effect<ChunkWriter, ChunkDeviceError, Scope.Scope>
  readonly describe: (chunk: ChunkName) => Effect.Effect<ChunkDescription, ChunkDeviceError>
  /** The bytes of a copy, or of a range of it, verified block by block. */
  readonly read: (options: {
    readonly chunk: ChunkName
    readonly range: Option.Option<ByteRange>
  }) => Stream.Stream<Uint8Array, ChunkDeviceError>
  /** Reads the whole copy and checks every block and the whole checksum. */
  readonly verify: (chunk: ChunkName) => Effect.Effect<ChunkDescription, ChunkDeviceError>
  /** Removes a copy durably; `not-found` when there is none. */
  readonly remove: (chunk: ChunkName) => Effect.Effect<void, ChunkDeviceError>
  /** Everything on the device in (file id, chunk id, version) order, headers checked. */
  readonly list: Stream.Stream<StoredCopy, ChunkDeviceError>
}

/** Opens and formats devices; see the module comment for the promises. */
export class ChunkDevices extends Context.Service<
  ChunkDevices,
  {
    /** Writes a new identity into an empty directory. */
    readonly format: (options: {
      readonly directory: string
      readonly clusterId: string
      readonly deviceId: string
    }) => Effect.Effect<DeviceIdentity, ChunkDeviceError>
    /** Opens a formatted device of this cluster. */
    readonly open: (options: {
      readonly directory: string
      readonly clusterId: string
      /** Bytes of the disk that are never written. */
      readonly reservedBytes: number
      /** A smaller capacity than the disk has. */
      readonly capacityBytes: Option.Option<number>
    }) => Effect.Effect<OpenDevice, ChunkDeviceError, Scope.Scope>
  }
>()("@holdfast/storage/ChunkDevices") {}
