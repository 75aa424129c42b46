/** How a worker starts, whatever its pipeline does: the real service on the site's streams. */
import type { Messaging } from "@holdfast/messaging"
import { parseWorkerConfig, type Pipeline, Worker } from "@holdfast/service-worker"
import { WorkerId } from "@holdfast/wire"
import { Effect, Layer, Result } from "effect"
import { withLayer } from "./layers.ts"
import { SimulatedNode } from "./node.ts"
import { clusterId, type Site } from "./site.ts"
import { brokerOf } from "./watched-ports.ts"

/** What a worker works with. */
export interface PipelineParts<Services> {
  readonly settings: Readonly<Record<string, unknown>>
  readonly pipeline: Layer.Layer<Pipeline, never, Services>
  /** What the pipeline asks for, and the worker's messages. */
  readonly services: Layer.Layer<Services | Messaging>
}

/** A worker that works on every stream. */
export const makePipelineNode = <Services>(
  site: Site,
  name: string,
  { pipeline, services, settings }: PipelineParts<Services>
): SimulatedNode<Worker["Service"]> => {
  const worker = WorkerId.make(name)
  const config = Result.getOrThrow(parseWorkerConfig({ ...settings, cluster: clusterId, worker }))
  return new SimulatedNode(site, {
    name,
    disks: [],
    start: () =>
      withLayer(
        Worker.layer(config).pipe(
          Layer.provide(pipeline),
          Layer.provide(Layer.merge(services, brokerOf(site, name)))
        ),
        Effect.map(Worker, (running) => running)
      )
  })
}
