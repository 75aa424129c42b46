/** A worker on JetStream, over the archives of its cluster or over streams that it was told. */
import { housekeepingLayer } from "@holdfast/service-archive"
import {
  type Pipeline,
  type PipelineModuleError,
  Worker,
  type WorkerConfig
} from "@holdfast/service-worker"
import { Layer } from "effect"
import { jetStreamPorts, streamPorts, type StreamPortsOptions } from "./jet-stream-ports.ts"
import type { Surroundings } from "./load-pipeline.ts"

/** A worker's settings, and what it hands its records to. */
interface WorkerParts {
  readonly config: WorkerConfig
  readonly pipeline: Layer.Layer<Pipeline, PipelineModuleError, Surroundings>
}

/** Archives the streams of all archives. */
export const archiveWorker = ({
  config,
  pipeline,
  putIdleMs
}: WorkerParts & { readonly putIdleMs: number }) =>
  Layer.merge(
    Worker.layer(config).pipe(
      Layer.provide(pipeline),
      Layer.provide(jetStreamPorts(config.cluster))
    ),
    housekeepingLayer({ idleFor: putIdleMs })
  )

/** Runs a pipeline over streams, shared with the other workers of its group. */
export const streamWorker = ({
  config,
  pipeline,
  ...streams
}: WorkerParts & Omit<StreamPortsOptions, "cluster">) =>
  Worker.layer(config).pipe(
    Layer.provide(pipeline),
    Layer.provide(streamPorts({ cluster: config.cluster, ...streams }))
  )
