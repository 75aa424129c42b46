/** A worker with the archive's pipeline, over whatever source and stores it is given. */
import { failure } from "@holdfast/process"
import { archivePipelineLayer, housekeepingLayer } from "@holdfast/service-archive"
import type { CheckpointStore, Lease, RecordSource } from "@holdfast/records"
import { type DeadLetters, parseWorkerConfig, Worker } from "@holdfast/service-worker"
import type { ClusterId, WorkerId } from "@holdfast/wire"
import { Effect, Layer, Result } from "effect"

/** What a worker reads, keeps its progress in, and lays aside what cannot be archived in. */
export type WorkerPorts = RecordSource | CheckpointStore | Lease | DeadLetters

/** Who the worker is; further settings are checked by the worker's own schema. */
export interface WorkerProcessOptions {
  readonly cluster: ClusterId
  readonly worker: WorkerId
  readonly settings?: Readonly<Record<string, unknown>>
}

/** Runs a worker for as long as the layer lives; each active archive is one of its shards. */
export const workerProcess = (options: WorkerProcessOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { cluster, settings, worker } = options
      const config = parseWorkerConfig({ ...settings, cluster, worker })
      if (Result.isFailure(config)) return yield* failure(config.failure.message)
      const archiving = Worker.layer(config.success).pipe(
        Layer.provide(archivePipelineLayer({ archiveOf: ({ shard }) => shard }))
      )
      return Layer.merge(archiving, housekeepingLayer())
    })
  )
