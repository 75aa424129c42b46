/**
 * The ports of a worker on JetStream: records, checkpoints, leases, dead letters. All workers of a
 * cluster share their buckets, so that each can tell of all; the names of shards keep groups apart.
 */
import {
  bucketKey,
  natsCheckpointStoreLayer,
  natsLeaseLayer,
  natsRecordSourceLayer,
  type NatsShard
} from "@holdfast/adapter-nats"
import { ArchiveClient } from "@holdfast/client"
import type { ClusterId } from "@holdfast/wire"
import { Effect, Layer } from "effect"
import { type ArchiveShard, archiveShards } from "./archive-shards.ts"
import { jetStreamArchiveLetters, jetStreamLetters } from "./jet-stream-dead-letters.ts"
import { recordConfigurations } from "./record-configurations.ts"

/** A shard as it is read; consumers that the server keeps are named after cluster and shard. */
const natsShard =
  (cluster: ClusterId) =>
  ({ filterSubject, isAcknowledged, shard, stream }: ArchiveShard): NatsShard => ({
    shard,
    stream,
    ...(filterSubject === undefined ? {} : { filterSubject }),
    ...(isAcknowledged === true ? { consumer: `holdfast-${cluster}-${bucketKey(shard)}` } : {})
  })

const buckets = (cluster: ClusterId) =>
  Layer.mergeAll(
    natsCheckpointStoreLayer({ bucket: `holdfast-${cluster}-checkpoints` }),
    natsLeaseLayer({ bucket: `holdfast-${cluster}-leases` })
  )

/** The source and stores of a worker that archives; its shards are the archives. */
export const jetStreamPorts = (cluster: ClusterId) =>
  Layer.mergeAll(
    Layer.unwrap(
      Effect.gen(function* () {
        const context = yield* Effect.context<ArchiveClient>()
        const shards = Effect.map(archiveShards, (all) => all.map(natsShard(cluster)))
        return natsRecordSourceLayer({ shards: Effect.provide(shards, context) })
      })
    ),
    Layer.effectDiscard(recordConfigurations),
    jetStreamArchiveLetters,
    buckets(cluster)
  )

/** What workers of a pipeline read. */
export interface StreamPortsOptions {
  readonly cluster: ClusterId
  readonly shards: ReadonlyArray<ArchiveShard>
  /** The stream for dead letters; none without one. */
  readonly deadLetter: string | undefined
}

/** The source and stores of a worker that runs another pipeline over the streams it was told. */
export const streamPorts = (options: StreamPortsOptions) => {
  const { cluster, deadLetter, shards } = options
  const ports = Layer.merge(
    natsRecordSourceLayer({ shards: Effect.succeed(shards.map(natsShard(cluster))) }),
    buckets(cluster)
  )
  return deadLetter === undefined ? ports : Layer.merge(ports, jetStreamLetters(deadLetter))
}
