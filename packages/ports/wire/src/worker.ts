/** What operators ask of workers. */
import { Schema } from "effect"
import { Count, WorkerId } from "./identifiers.ts"
import { operation } from "./operation.ts"

/** How long something took: the latest time, the longest, all together; milliseconds. */
export const LatencyStatus = Schema.Struct({
  count: Count,
  lastMs: Count,
  highestMs: Count,
  totalMs: Count
})

/** One shard as the worker that owns it sees it; positions are decimal numbers. */
export const ShardStatus = Schema.Struct({
  shard: Schema.String,
  epoch: Count,
  state: Schema.Literals(["starting", "running", "draining", "halted"]),
  /** Why it halted, with the position that did not go through. */
  reason: Schema.optionalKey(Schema.String),
  /** Finished and checkpointed up to here. */
  checkpoint: Schema.optionalKey(Schema.BigInt),
  /** The newest position read. */
  read: Schema.optionalKey(Schema.BigInt),
  /** The newest position the source is known to hold. */
  newest: Schema.optionalKey(Schema.BigInt),
  inFlight: Schema.Struct({ records: Count, items: Count, bytes: Count }),
  oldestUnfinished: Schema.optionalKey(Schema.Struct({ position: Schema.BigInt, ageMs: Count })),
  finishedAboveGap: Count,
  counters: Schema.Record(Schema.String, Count),
  /** Of checkpoints, from the request to the confirmation; of flushes, partial and full. */
  latencies: Schema.optionalKey(Schema.Struct({ checkpoint: LatencyStatus, flush: LatencyStatus }))
})
/** One shard as the worker that owns it sees it. */
export type ShardStatus = typeof ShardStatus.Type

/** A claim on a shard as the worker sees it. */
export const LeaseStatus = Schema.Struct({
  shard: Schema.String,
  owner: Schema.optionalKey(Schema.String),
  epoch: Count,
  /** Milliseconds since this worker saw the claim renewed. */
  unchangedMs: Count,
  /** An operator has paused the shard. */
  isPaused: Schema.optionalKey(Schema.Boolean)
})

/** This worker's shards, and all claims that it sees. */
export const workerStatus = operation({
  service: "worker",
  name: "status",
  request: Schema.Struct({}),
  response: Schema.Struct({
    worker: WorkerId,
    shards: Schema.Array(ShardStatus),
    leases: Schema.Array(LeaseStatus)
  })
})

const OneShard = Schema.Struct({ shard: Schema.String })
const Done = Schema.Struct({})

/**
 * Lets a shard rest: its owner flushes and lets it go, nobody takes it. Ask a worker that knows the
 * shard's claim. Errors: `no-such-shard`, `conflict`, `unavailable`.
 */
export const pauseShard = operation({
  service: "worker",
  name: "pause-shard",
  request: OneShard,
  response: Done
})

/** Lets a paused shard go on. Errors: as for `pauseShard`. */
export const resumeShard = operation({
  service: "worker",
  name: "resume-shard",
  request: OneShard,
  response: Done
})

/**
 * Hands a shard to another worker, flushed first. Ask its owner. Errors: as for `pauseShard`, and
 * `not-owner`, `not-elsewhere`.
 */
export const moveShard = operation({
  service: "worker",
  name: "move-shard",
  request: Schema.Struct({ shard: Schema.String, to: WorkerId }),
  response: Done
})

/**
 * Sets where a paused shard goes on: behind a position, or at its oldest record without one.
 * Errors: as for `pauseShard`, and `not-paused`.
 */
export const resetShard = operation({
  service: "worker",
  name: "reset-shard",
  request: Schema.Struct({ shard: Schema.String, after: Schema.optionalKey(Schema.BigInt) }),
  response: Done
})
