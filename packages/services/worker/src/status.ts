/** What a worker says about itself, in the form of its status operation. */
import type { WorkerOperations } from "@holdfast/wire"
import { Option } from "effect"
import type { Latency } from "./latency.ts"
import type { Held, Ownership } from "./leases.ts"
import { monotonicMs } from "./monotonic.ts"

/** This worker's shards, and all claims that it sees. */
export const statusOf = (
  ownership: Ownership
): {
  readonly worker: typeof ownership.config.worker
  readonly shards: ReadonlyArray<WorkerOperations.ShardStatus>
  readonly leases: ReadonlyArray<typeof WorkerOperations.LeaseStatus.Type>
} => ({
  worker: ownership.config.worker,
  shards: [...ownership.held].map(([shard, held]) => shardStatus(shard, held)),
  leases: [...ownership.table.values()].map(({ changedAt, record }) => ({
    shard: record.shard,
    epoch: record.epoch,
    unchangedMs: Math.max(0, Math.round(monotonicMs(ownership.clock) - changedAt)),
    ...(record.isPaused === true ? { isPaused: true } : {}),
    ...Option.match(record.owner, { onNone: () => ({}), onSome: (owner) => ({ owner }) })
  }))
})

const shardStatus = (shard: string, { control, epoch }: Held): WorkerOperations.ShardStatus => {
  const { run } = control
  const reason = reasonOf(control)
  const state = stateOf(control)
  const shared = { shard, epoch, state, ...(reason === undefined ? {} : { reason }) }
  if (run === undefined) {
    const inFlight = { records: 0, items: 0, bytes: 0 }
    return { ...shared, inFlight, finishedAboveGap: 0, counters: {} }
  }
  const { bytes, counters, finishedAbove, items, newest, oldest, records } = run.tracker.standing
  const { checkpointed, latencies, newestInSource } = run
  return {
    ...shared,
    inFlight: { records, items, bytes },
    finishedAboveGap: finishedAbove,
    counters: { ...counters, ...run.counters },
    latencies: {
      checkpoint: latencyStatus(latencies.checkpoint),
      flush: latencyStatus(latencies.flush)
    },
    ...(checkpointed === undefined ? {} : { checkpoint: checkpointed }),
    ...(newest === undefined ? {} : { read: newest }),
    ...(newestInSource === undefined ? {} : { newest: newestInSource }),
    ...(oldest === undefined
      ? {}
      : {
          oldestUnfinished: {
            position: oldest.position,
            ageMs: Math.max(0, Math.round(run.now() - oldest.seenAt))
          }
        })
  }
}

const latencyStatus = ({ count, highestMs, lastMs, totalMs }: Latency) => ({
  count,
  lastMs: Math.round(lastMs),
  highestMs: Math.round(highestMs),
  totalMs: Math.round(totalMs)
})

const reasonOf = ({ lastFailure, refusal, run }: Held["control"]): string | undefined =>
  refusal ?? run?.haltReason ?? lastFailure ?? blockedBy(run) ?? run?.stallReason

/** Records that fail hold the checkpoint back, and the intake in the end: say so while they do. */
const blockedBy = (run: Held["control"]["run"]): string | undefined => {
  const failing = run?.tracker.standing.failing ?? 0
  return failing === 0
    ? undefined
    : `${failing} records have failed and wait to be tried again; last: ${run?.lastFailure}`
}

const stateOf = (control: Held["control"]): WorkerOperations.ShardStatus["state"] => {
  if (control.isDraining) return "draining"
  if (control.refusal !== undefined || control.run?.haltReason !== undefined) return "halted"
  return control.run === undefined || control.lastFailure !== undefined ? "starting" : "running"
}
