/**
 * The state of the chunk map, as data.
 *
 * ```
 *   durable (journal)                       volatile (reports, leases, commands)
 *   chunk records, marks, freed chunks,     replica sets, odd copies, liveness, leases,
 *   desired modes and epochs of devices,    copies under way, deletions told, answers
 *   quarantine                              remembered
 * ```
 * A device that reports gets a new slot; a committed chunk names the interned set of the slots that
 * hold its current version. When the report is complete the old slot retires, which takes every
 * copy that was not reported again out of the map at once; the sweep takes retired slots out of the
 * sets.
 */
import type { Counts } from "./counts.ts"
import type { Digest } from "./digest.ts"
import type { ChunkKey, ChunkVersion, DeviceId, HostId } from "./identity.ts"
import type { OrderedMap } from "./ordered-map.ts"
import type { ReadableTree } from "./packed-tree.ts"
import type { ReplicaSets } from "./replica-sets.ts"
import type { Settings } from "./settings.ts"

/** What the operator wants of a device; durable. */
export type DesiredMode = "normal" | "frozen" | "draining" | "removed"

/** Whether a device was heard; `absent` is known from the journal and not heard since the start. */
export type Liveness = "absent" | "online" | "stale" | "dead"

/** A full report that is wanted or under way. */
export interface ReportProgress {
  readonly lease: number
  readonly leaseUntil: number
  readonly epoch: number
  readonly reportId: string | null
  readonly slot: number
  readonly nextPart: number
  readonly copies: number
}

/** A device; `slot` is -1 before its first complete report. */
export interface Device {
  readonly deviceId: DeviceId
  readonly index: number
  /** Where it stands in the rings of placement. */
  readonly ringSeed: number
  readonly hostId: HostId | null
  /** The rack of the host; empty when it names none. */
  readonly rack: string
  readonly epoch: number
  /** The epoch that the journal knows, or -1. */
  readonly loggedEpoch: number
  /** The host that the journal knows. */
  readonly loggedHost: HostId | null
  readonly desired: DesiredMode
  readonly liveness: Liveness
  readonly slot: number
  /** The copies of `slot` are what the device holds under its present epoch. */
  readonly serving: boolean
  /** Nothing hints that the map and the device differ. */
  readonly fresh: boolean
  readonly report: ReportProgress | null
  readonly finishedReport: string | null
  readonly lastHeard: number
  /** Since when its copies wait for a report, while it does not serve. */
  readonly awaitedSince: number
  readonly diedAt: number
  readonly capacity: number
  readonly used: number
  readonly available: number
  readonly saidDigest: Digest | null
  readonly mapDigest: Digest | null
}

/** A chunk server process and where it is reached. */
export interface Host {
  readonly hostId: HostId
  readonly incarnation: number
  readonly url: string
  /** Where it stands; empty when it does not say. */
  readonly rack: string
  readonly sequence: number
  readonly lastHeard: number
}

/** Why a copy is not one of the committed version. */
export type OddKind = "stale" | "future" | "corrupt" | "uncommitted"

/** A copy that counts for nothing. */
export interface OddCopy {
  readonly slot: number
  readonly version: number
  readonly length: number
  readonly checksum: number
  readonly kind: OddKind
}

/** Why a copy is deleted. */
export type DeletionReason = "freed" | "stale" | "corrupt" | "surplus" | "unknown" | "abandoned"

/** Names a copy on a device, by the device's index. */
export interface CopyKey extends ChunkVersion {
  readonly device: number
}

/** A deletion: waiting while `commandId` is 0, then told until it is acknowledged. */
export interface Deletion {
  readonly reason: DeletionReason
  /** The slot whose digest counts this copy, or -1. */
  readonly heldBy: number
  readonly length: number
  readonly checksum: number
  /** When it became due. */
  readonly since: number
  readonly commandId: number
  readonly deadline: number
  readonly resendAt: number
  readonly attempts: number
}

/** A reservation; its id is the version that it allots. */
export interface Lease extends ChunkVersion {
  readonly size: number
  readonly devices: ReadonlyArray<number>
  readonly expiresAt: number
}

/** Names a command to a device. */
export interface CommandKey {
  readonly device: number
  readonly commandId: number
}

/** A copy under way from one device to another. */
export interface CopyJob extends ChunkVersion {
  readonly source: number
  readonly length: number
  readonly checksum: number
  readonly deadline: number
  readonly resendAt: number
}

/** A check of a copy that somebody called bad. */
export interface Verification {
  readonly commandId: number
  readonly deadline: number
  readonly resendAt: number
}

/** A freed chunk; `pending` deletions of its copies are not acknowledged. */
export interface Freed {
  readonly version: number
  readonly pending: number
}

/** An unknown copy: its age is `ageMs` plus the time since `since`. */
export interface Unknown {
  /** The slot whose digest counts this copy, or -1. */
  readonly slot: number
  readonly length: number
  readonly checksum: number
  readonly ageMs: number
  readonly since: number
  readonly future: boolean
}

/** The next chunk id of a file, where the tree alone does not say it. */
export interface FileMark {
  readonly next: number
  readonly openLeases: number
  readonly durable: boolean
}

/** Whether deletions, repair and allocation wait for knowledge. */
export interface SafeMode {
  readonly phase: "pending" | "extension" | "off"
  readonly manual: boolean
  readonly extensionUntil: number
  readonly leftAt: number
}

/** A file that was created. */
export interface CreatedFile {
  readonly fileId: number
}

/** A reservation that was granted; `leaseId` is also the version to write. */
export interface Allocation extends ChunkVersion {
  readonly leaseId: number
  readonly devices: ReadonlyArray<DeviceId>
  readonly expiresAt: number
}

/** What a publish made of one device's receipt. */
export interface PublishedDevice {
  readonly deviceId: string
  readonly status:
    | "counted"
    | "unknown-device"
    | "offline-device"
    | "bad-receipt"
    | "stale-epoch"
    | "other-bytes"
}

/** A version that was committed. */
export interface Published {
  readonly copies: number
  readonly devices: ReadonlyArray<PublishedDevice>
}

/** What a free made of one chunk. */
export type FreeResult = "freed" | "no-such-chunk" | "newer-version"

/** A remembered answer. */
export type Remembered = { readonly sequence: number } & (
  | { readonly _tag: "CreateFile"; readonly reply: CreatedFile }
  | { readonly _tag: "Alloc"; readonly reply: Allocation }
  | { readonly _tag: "Publish"; readonly reply: Published }
  | { readonly _tag: "Free"; readonly reply: ReadonlyArray<FreeResult> }
)

/** The slots: which device each belongs to, and what its copies count for (`slots.ts`). */
export interface Slots {
  readonly devices: ReadonlyArray<number>
  readonly flags: Uint8Array
}

/** Single numbers of the state. */
export interface Scalars {
  readonly now: number
  readonly lastTick: number
  readonly graceUntil: number
  readonly nextFileId: number
  readonly fileIdLimit: number
  readonly nextVersion: number
  readonly versionLimit: number
  readonly seenFileId: number
  readonly seenVersion: number
  readonly requestSequence: number
  /** The last lease for a report; these are not kept over a restart. */
  readonly reportSequence: number
  readonly safeMode: SafeMode
  readonly repairStopped: boolean
  /** The class that is owed a copy next, and the copies since one was (`repair.ts`). */
  readonly repairTurn: number
  readonly repairsSinceOwed: number
  /** Where the sweep goes on, and how many passes it has finished. */
  readonly sweepAt: ChunkKey
  readonly oddSweepAt: ChunkKey
  readonly freedSweepAt: ChunkKey
  readonly unknownSweepAt: CopyKey
  readonly sweepPasses: number
  /** Where balancing goes on, and the moment before which it copies nothing more. */
  readonly balanceAt: ChunkKey
  readonly balanceNotBefore: number
  /** Draining devices that the present pass found needed, and clean passes so far. */
  readonly drainNeeded: ReadonlyMap<number, number>
  readonly drainClean: ReadonlyMap<number, number>
  /** How many chunks needed each draining device in the latest whole pass. */
  readonly drainBlocked: ReadonlyMap<number, number>
  readonly quarantineOverflow: number
}

/** The whole state; persistent, so an older one stays valid. */
export interface State extends Scalars {
  readonly settings: Settings
  readonly sets: ReplicaSets
  readonly chunks: ReadableTree
  readonly counts: Counts
  readonly slots: Slots
  readonly figures: Float64Array
  readonly deviceNames: ReadonlyArray<DeviceId>
  readonly devices: OrderedMap<string, Device>
  readonly hosts: OrderedMap<string, Host>
  readonly odd: OrderedMap<ChunkKey, ReadonlyArray<OddCopy>>
  readonly deletions: OrderedMap<CopyKey, Deletion>
  readonly freed: OrderedMap<ChunkKey, Freed>
  readonly quarantine: OrderedMap<CopyKey, Unknown>
  readonly fileMarks: OrderedMap<number, FileMark>
  readonly leases: OrderedMap<number, Lease>
  readonly copyJobs: OrderedMap<CommandKey, CopyJob>
  readonly copying: OrderedMap<ChunkKey, ReadonlyArray<CommandKey>>
  readonly verifications: OrderedMap<CopyKey, Verification>
  /** Chunks that wait for repair, by their class (`repair-class.ts`). */
  readonly onlyCopy: OrderedMap<ChunkKey, true>
  readonly veryLow: OrderedMap<ChunkKey, true>
  readonly low: OrderedMap<ChunkKey, true>
  readonly badlySpread: OrderedMap<ChunkKey, true>
  readonly requests: OrderedMap<string, Remembered>
  readonly requestOrder: OrderedMap<number, string>
}
