/** The state of a cluster in which nothing ever happened. */
import { noCounts } from "./counts.ts"
import { compareChunks, compareVersions, type ChunkKey } from "./identity.ts"
import type { CommandKey, CopyKey, Scalars, State } from "./model.ts"
import { emptyMap } from "./ordered-map.ts"
import { emptyTree } from "./packed-tree.ts"
import { ReplicaSets } from "./replica-sets.ts"
import type { Settings } from "./settings.ts"
import { noSlots } from "./slots.ts"

const compareNumbers = (left: number, right: number): number => left - right

const compareTexts = (left: string, right: string): number =>
  left < right ? -1 : left > right ? 1 : 0

const compareCopies = (left: CopyKey, right: CopyKey): number =>
  left.device - right.device || compareVersions(left, right)

const compareCommands = (left: CommandKey, right: CommandKey): number =>
  left.device - right.device || left.commandId - right.commandId

const nowhere: ChunkKey = { fileId: 0, chunkId: 0 }

const scalars: Scalars = {
  now: 0,
  lastTick: -1,
  graceUntil: 0,
  nextFileId: 1,
  fileIdLimit: 1,
  nextVersion: 1,
  versionLimit: 1,
  seenFileId: 0,
  seenVersion: 0,
  requestSequence: 0,
  reportSequence: 0,
  safeMode: { phase: "pending", manual: false, extensionUntil: 0, leftAt: 0 },
  repairStopped: false,
  repairTurn: 0,
  repairsSinceOwed: 0,
  sweepAt: nowhere,
  oddSweepAt: nowhere,
  freedSweepAt: nowhere,
  unknownSweepAt: { device: 0, fileId: 0, chunkId: 0, version: 0 },
  sweepPasses: 0,
  balanceAt: nowhere,
  balanceNotBefore: 0,
  drainNeeded: new Map(),
  drainClean: new Map(),
  drainBlocked: new Map(),
  quarantineOverflow: 0
}

/** The state of a cluster in which nothing ever happened: in safe mode, without a device. */
export const emptyState = (settings: Settings): State => ({
  ...scalars,
  settings,
  sets: new ReplicaSets(),
  chunks: emptyTree,
  counts: noCounts,
  slots: noSlots,
  figures: new Float64Array(0),
  deviceNames: [],
  devices: emptyMap(compareTexts),
  hosts: emptyMap(compareTexts),
  odd: emptyMap(compareChunks),
  deletions: emptyMap(compareCopies),
  freed: emptyMap(compareChunks),
  quarantine: emptyMap(compareCopies),
  fileMarks: emptyMap(compareNumbers),
  leases: emptyMap(compareNumbers),
  copyJobs: emptyMap(compareCommands),
  copying: emptyMap(compareChunks),
  verifications: emptyMap(compareCopies),
  onlyCopy: emptyMap(compareChunks),
  veryLow: emptyMap(compareChunks),
  low: emptyMap(compareChunks),
  badlySpread: emptyMap(compareChunks),
  requests: emptyMap(compareTexts),
  requestOrder: emptyMap(compareNumbers)
})
