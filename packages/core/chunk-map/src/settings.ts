/** The numbers that govern a chunk map; every limit and every time of it stands here. */
import * as Schema from "effect/Schema"

const Whole = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const Positive = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
)
const Ratio = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/**
 * The numbers that govern a chunk map. Times are milliseconds of monotonic time, sizes are bytes.
 */
export const Settings = Schema.Struct({
  /** How often a chunk server should be heard. */
  heartbeatMs: Positive,
  /** Silence after which a device takes no new chunk and counts for no deletion. */
  staleAfterMs: Positive,
  /** Silence after which a device is dead and its chunks are repaired. */
  deadAfterMs: Positive,
  /** The share of the recorded chunks that must have a copy before safe mode is left. */
  safeModeThreshold: Ratio,
  /** Devices that must have reported before safe mode is left. */
  devicesMin: Whole,
  /** How long the threshold must hold before safe mode is left. */
  extensionMs: Whole,
  /** How long after safe mode repair begins. */
  repairDelayMs: Whole,
  /** How long a reservation lives. */
  leaseMs: Positive,
  /** Reservations at a time. */
  leasesMax: Positive,
  /** How long a device may take for the next part of its report. */
  reportLeaseMs: Positive,
  /** Devices that report at a time. */
  reportsMax: Positive,
  /** Copies in one part of a report. */
  reportPartMax: Positive,
  /** Copies that one device writes at a time for repair; smaller ones share a slot. */
  copiesInMax: Positive,
  /** Copies that one device is read for at a time for repair; smaller ones share a slot. */
  copiesOutMax: Positive,
  /** Bytes from which on a copy takes a whole slot. */
  copySlotBytes: Positive,
  /** Devices whose free shares differ by no more are even enough. */
  balanceRatioMin: Ratio,
  /** Chunks that are copied at a time for balancing. */
  balanceCopiesMax: Positive,
  /** Bytes a second that are copied for balancing; 0 for none. */
  balanceBytesPerSecond: Whole,
  /** How long a copy for repair may take. */
  copyTimeoutMs: Positive,
  /** Deletions that one device is told at a time. */
  deletionsMax: Positive,
  /** How long a device may take for a deletion before it is told again. */
  deletionTimeoutMs: Positive,
  /** When a command that was not answered is repeated. */
  commandResendMs: Positive,
  /** Free space that allocation leaves on each device: the greater of the two. */
  freeBytesMin: Whole,
  freeRatioMin: Ratio,
  /** Sets of devices that new chunks are placed on, for each device and number of copies. */
  placementRings: Positive,
  /** How long an unknown copy is kept. */
  quarantineMs: Whole,
  /** Unknown copies remembered one by one; more are counted only. */
  quarantineMax: Positive,
  /** Freed chunks whose copies are not all known to be gone. */
  freedMax: Positive,
  /** The share of the devices whose death within `deadAfterMs` stops repair. */
  massDeathRatio: Ratio,
  /** Requests whose answers are remembered. */
  requestsMax: Positive,
  /** Chunks that one tick looks at; one for which something is to be done counts as sixteen. */
  sweepChunks: Positive,
  /** Chunks that wait for repair, each class of them. */
  backlogMax: Positive,
  /** Devices known at a time. */
  devicesMax: Positive,
  /** A pause of this service that gives every device a new term. */
  stallMs: Positive
})
/** The numbers that govern a chunk map. */
export type Settings = typeof Settings.Type

const MiB = 1024 * 1024
const minute = 60_000

/** Sound numbers for a cluster of tens of machines. */
export const defaultSettings: Settings = {
  heartbeatMs: 1_000,
  staleAfterMs: 15_000,
  deadAfterMs: 90_000,
  safeModeThreshold: 0.999,
  devicesMin: 1,
  extensionMs: 30_000,
  repairDelayMs: minute,
  leaseMs: 5 * minute,
  leasesMax: 100_000,
  reportLeaseMs: 5 * minute,
  reportsMax: 6,
  reportPartMax: 10_000,
  copiesInMax: 2,
  copiesOutMax: 4,
  copySlotBytes: 16 * MiB,
  balanceRatioMin: 0.1,
  balanceCopiesMax: 4,
  balanceBytesPerSecond: 32 * MiB,
  copyTimeoutMs: 5 * minute,
  deletionsMax: 200,
  deletionTimeoutMs: 2 * minute,
  commandResendMs: 5_000,
  freeBytesMin: 256 * MiB,
  freeRatioMin: 0.01,
  placementRings: 8,
  quarantineMs: 7 * 24 * 60 * minute,
  quarantineMax: 1_000_000,
  freedMax: 1_000_000,
  massDeathRatio: 0.25,
  requestsMax: 65_536,
  sweepChunks: 200_000,
  backlogMax: 4_096,
  devicesMax: 10_000,
  stallMs: 10_000
}
