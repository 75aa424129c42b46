/** The facts that must be durable before the answers that rest on them leave. */
import type { ChunkRecord } from "./packed-tree.ts"
import type { ChunkVersion, DeviceId, HostId } from "./identity.ts"
import type { DesiredMode } from "./model.ts"

/** One durable fact; replayed in order by `recover`. */
export type JournalEntry =
  /** No file id and no version at or above these was given out. */
  | { readonly _tag: "Marks"; readonly fileIdLimit: number; readonly versionLimit: number }
  /** A version of a chunk is committed. */
  | ({ readonly _tag: "Committed" } & Omit<ChunkRecord, "set">)
  /** Versions of a chunk up to this one are freed. */
  | ({ readonly _tag: "Freed" } & ChunkVersion)
  /** Every copy of a freed chunk is known to be gone. */
  | ({ readonly _tag: "Settled" } & ChunkVersion)
  /** A device is known, under this epoch, and meant to be in this mode; null: no host is known. */
  | {
      readonly _tag: "DeviceKnown"
      readonly deviceId: DeviceId
      readonly epoch: number
      readonly desired: DesiredMode
      readonly hostId: HostId | null
    }
  /** A device that was taken out is known no more. */
  | { readonly _tag: "DeviceForgotten"; readonly deviceId: DeviceId }
  /** Copies that nobody knows were found on a device. */
  | {
      readonly _tag: "Quarantined"
      readonly deviceId: DeviceId
      readonly ageMs: number
      readonly copies: Array<ChunkVersion>
    }
  /** Copies left the quarantine. */
  | {
      readonly _tag: "Released"
      readonly deviceId: DeviceId
      readonly copies: Array<ChunkVersion>
    }
  /** The next chunk id of a file whose last chunks were freed; written by snapshots. */
  | { readonly _tag: "FileMark"; readonly fileId: number; readonly next: number }
