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
  unchangedMs: Count
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
