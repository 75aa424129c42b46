/** What a worker that runs says of itself; its own status is asked at each scrape. */
import type { Messaging } from "@holdfast/messaging"
import { missingAnswers, type Observations, probe } from "@holdfast/process"
import {
  type ClusterId,
  MetadataOperations,
  PeerOperations,
  type WorkerId,
  WorkerOperations
} from "@holdfast/wire"
import { type Context, Effect, Metric, Option } from "effect"

const askSelf = probe(WorkerOperations.workerStatus)
const askMetadata = probe(MetadataOperations.status)
const askPeer = probe(PeerOperations.peerStatus)

const gauge = (name: string, description: string) =>
  Metric.gauge(`holdfast_worker_${name}`, { description })

const shards = gauge("shards", "shards that this worker owns, by state")
const lag = gauge("lag_records", "positions of its shards that are not checkpointed yet")
const records = gauge("unfinished_records", "records in memory whose segments are not stored yet")
const bytes = gauge("unfinished_bytes", "bytes of those records")
const oldest = gauge("oldest_unfinished_seconds", "age of the oldest of those records")

type Shard = WorkerOperations.ShardStatus

const states: ReadonlyArray<Shard["state"]> = ["starting", "running", "draining", "halted"]

const lagOf = ({ checkpoint, newest }: Shard): number =>
  newest === undefined ? 0 : Math.max(0, Number(newest - (checkpoint ?? 0n)))

const total = (owned: ReadonlyArray<Shard>, valueOf: (shard: Shard) => number): number =>
  owned.reduce((sum, shard) => sum + valueOf(shard), 0)

const showShards = (owned: ReadonlyArray<Shard>): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const state of states) {
      const count = owned.filter((shard) => shard.state === state).length
      yield* Metric.update(Metric.withAttributes(shards, { state }), count)
    }
    const ages = owned.map(({ oldestUnfinished }) => oldestUnfinished?.ageMs ?? 0)
    yield* Metric.update(lag, total(owned, lagOf))
    yield* Metric.update(
      records,
      total(owned, ({ inFlight }) => inFlight.records)
    )
    yield* Metric.update(
      bytes,
      total(owned, ({ inFlight }) => inFlight.bytes)
    )
    yield* Metric.update(oldest, Math.max(0, ...ages) / 1_000)
  })

const storage = (cluster: ClusterId) => ({
  "no metadata service answers": askMetadata({ cluster, request: {} }),
  "no peer answers": askPeer({ cluster, request: {} })
})

/** It is ready when it answers, and what it stores segments with answers, too. */
export const observeWorker = (options: {
  readonly cluster: ClusterId
  readonly worker: WorkerId
  readonly context: Context.Context<Messaging>
}): Observations => {
  const { cluster, context, worker } = options
  const self = askSelf({ cluster, instance: worker, request: {} })
  return {
    missing: missingAnswers({
      [`worker ${worker} does not answer`]: self,
      ...storage(cluster)
    }).pipe(Effect.provide(context)),
    collect: self.pipe(
      Effect.flatMap(
        Option.match({ onNone: () => Effect.void, onSome: (one) => showShards(one.shards) })
      ),
      Effect.provide(context)
    )
  }
}

/** The child of a daemon answers no requests; it is ready when it can store segments. */
export const observeDaemonWorker = (
  cluster: ClusterId,
  context: Context.Context<Messaging>
): Observations => ({
  missing: missingAnswers(storage(cluster)).pipe(Effect.provide(context)),
  collect: Effect.void
})
