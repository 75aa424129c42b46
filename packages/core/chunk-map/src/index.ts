/**
 * The chunk map: chunk locations and versions, devices, hosts, safe mode, allocation, repair and
 * deletions as one persistent state that pure functions change.
 *
 * ```
 *   state ─ openDraft(now) ─▶ draft ─ alloc, publish, heartbeat, report, tick ... ─▶ sealDraft
 *                                                                                              │
 *                       new state, journal entries to make durable first, alarms   ◀──────────┘
 * ```
 * A shell opens a draft over all commands that have arrived, calls one function for each, seals it,
 * makes the journal entries durable, and only then lets the answers leave. If the journal fails it
 * keeps the old state. Time arrives with the draft, randomness with the command.
 */
export { digestAdd, digestEquals, digestRemove, emptyDigest, type Digest } from "./digest.ts"
export {
  chunkIdMax,
  compareChunks,
  DeviceId,
  goalMax,
  HostId,
  identityMax,
  type ChunkCopy,
  type ChunkKey,
  type ChunkVersion
} from "./identity.ts"
export { defaultSettings, Settings } from "./settings.ts"
export type {
  Allocation,
  CreatedFile,
  DesiredMode,
  Device,
  FreeResult,
  Host,
  Published,
  PublishedDevice,
  State
} from "./model.ts"
export { addressOf, type DeviceAddress } from "./devices.ts"
export { emptyState } from "./empty-state.ts"
export { openDraft, sealDraft, type Alarm, type Draft, type Sealed } from "./draft.ts"
export type { Refusal, RefusalCode } from "./refusal.ts"
export { alloc, createFile, type Alloc, type CreateFile } from "./alloc.ts"
export { abandon, publish, type Publish, type Receipt } from "./publish.ts"
export {
  healthOf,
  listChunks,
  locate,
  type ChunkHealth,
  type ListedChunk,
  type Location
} from "./locate.ts"
export { free, type Free } from "./free.ts"
export { reportBad, type ReportBad } from "./report-bad.ts"
export { setMode, type SetMode } from "./modes.ts"
export { drainBlockers, type Blocker, type Blockers, type BlockReason } from "./drain.ts"
export { forgetDevice } from "./forget-device.ts"
export { setSafeMode, viewSafeMode, type SafeModeView, type SetSafeMode } from "./safe-mode.ts"
export {
  heartbeat,
  type ChunkCommand,
  type CommandOutcome,
  type CopyChange,
  type DeviceFigures,
  type Heartbeat,
  type HeartbeatReply
} from "./heartbeat.ts"
export type { CopyCommand } from "./copies.ts"
export type { DeletionCommand } from "./tell-deletions.ts"
export type { VerifyCommand } from "./bad-copies.ts"
export { readCommandId, writeCommandId, type CommandKind, type CommandName } from "./command-id.ts"
export { takeReport, type ReportAccepted, type ReportPart, type ReportWanted } from "./report.ts"
export { listDevices, status, type DeviceView, type HealthCounts, type Status } from "./status.ts"
export {
  inspectChunk,
  listHosts,
  troubledChunks,
  type ChunkView,
  type CopyState,
  type CopyView,
  type HostView,
  type TroubledChunk
} from "./inspect.ts"
export type { ChunkReason } from "./chunk-reason.ts"
export { repairClasses, type RepairClass } from "./repair-class.ts"
export { tick } from "./tick.ts"
export type { JournalEntry } from "./journal-entry.ts"
export { decodeJournal, encodeJournal, type Crc32, type JournalDamage } from "./journal-codec.ts"
export { recover, replay, snapshotEntries } from "./recover.ts"
export { invariants, type Violation } from "./invariants.ts"
export type { ChunkRecord } from "./packed-tree.ts"
