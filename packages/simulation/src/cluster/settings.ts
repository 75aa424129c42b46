/** The times of a simulated cluster: short enough that minutes of virtual time show everything. */
import type { Settings } from "@holdfast/chunk-map"
import type { ClientSettings } from "@holdfast/client"
import type { ChunkServerSettings } from "@holdfast/service-chunk-server"
import type { PeerTimes } from "@holdfast/service-peer"
import { Duration } from "effect"

/** The numbers of the chunk map that differ from the defaults. */
export const mapSettings: Partial<Settings> = {
  heartbeatMs: 1_000,
  staleAfterMs: 4_000,
  deadAfterMs: 12_000,
  extensionMs: 2_000,
  repairDelayMs: 2_000,
  leaseMs: 20_000,
  copyTimeoutMs: 10_000,
  deletionTimeoutMs: 10_000,
  commandResendMs: 3_000,
  freeBytesMin: 0,
  freeRatioMin: 0,
  quarantineMs: 12_000,
  massDeathRatio: 0.6,
  stallMs: 4_000
}

/** The settings of chunk servers. */
export const chunkServerSettings: Partial<ChunkServerSettings> = {
  heartbeat: Duration.seconds(1),
  callDeadline: Duration.seconds(2),
  backoffMax: Duration.seconds(3),
  reopen: Duration.seconds(2),
  transferDeadline: Duration.seconds(5),
  scrubPeriod: Duration.seconds(40)
}

/** The times of peers. */
export const peerTimes: Partial<PeerTimes> = {
  resendMillis: 2_000,
  idleMillis: 10_000
}

/** The settings of clients. */
export const clientSettings: Partial<ClientSettings> = {
  attemptDeadline: "2 seconds",
  callDeadline: "12 seconds",
  writeDeadline: "20 seconds",
  transferDeadline: "4 seconds",
  // So small that walks have several pages.
  pageSize: 4
}

/** What a worker of archives may have in flight of a shard. */
export const workerLimits = { records: 400, items: 400, bytes: 256 * 1_024, span: 2_000 }

/** The settings of workers. */
export const workerSettings: Readonly<Record<string, unknown>> = {
  limits: workerLimits,
  batchRecords: 64,
  pullWaitMs: 500,
  heartbeatIntervalMs: 1_000,
  flushIntervalMs: 3_000,
  checkpointIntervalMs: 1_000,
  callDeadlineMs: 2_000,
  drainDeadlineMs: 8_000,
  stallAlarmMs: 60_000,
  discoveryIntervalMs: 2_000,
  leaseTermMs: 6_000,
  leaseMarginMs: 1_000,
  leaseRenewalMs: 1_500,
  retryHighestMs: 3_000
}

/** What a worker of stages may have in flight of a shard: so little that the limits are met. */
export const stageLimits = { records: 40, items: 60, bytes: 8 * 1_024, span: 150 }

/** The settings of workers with stages. */
export const stageSettings: Readonly<Record<string, unknown>> = {
  ...workerSettings,
  limits: stageLimits,
  // So few that a successor checkpoints before it has come to all that its predecessor finished.
  batchRecords: 6,
  aggregation: "kpl",
  errorPolicy: {
    _tag: "Retry",
    schedule: { retries: 20, initialMs: 100, factor: 2, maximumMs: 1_000 },
    exhausted: "halt"
  }
}
