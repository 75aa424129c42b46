/** The ports of a worker on JetStream: records, checkpoints, leases, dead letters. */
import {
  natsCheckpointStoreLayer,
  natsLeaseLayer,
  natsRecordSourceLayer
} from "@holdfast/adapter-nats"
import { ArchiveClient } from "@holdfast/client"
import type { ClusterId } from "@holdfast/wire"
import { Effect, Layer } from "effect"
import { archiveShards } from "./archive-shards.ts"
import { jetStreamDeadLetters } from "./jet-stream-dead-letters.ts"
import { recordConfigurations } from "./record-configurations.ts"

/** The source and stores of a worker on JetStream; buckets are named after the cluster. */
export const jetStreamPorts = (cluster: ClusterId) =>
  Layer.mergeAll(
    Layer.unwrap(
      Effect.gen(function* () {
        const context = yield* Effect.context<ArchiveClient>()
        return natsRecordSourceLayer({ shards: Effect.provide(archiveShards, context) })
      })
    ),
    Layer.effectDiscard(recordConfigurations),
    jetStreamDeadLetters,
    natsCheckpointStoreLayer({ bucket: `holdfast-${cluster}-checkpoints` }),
    natsLeaseLayer({ bucket: `holdfast-${cluster}-leases` })
  )
