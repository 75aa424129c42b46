/** `worker`: one worker on NATS and JetStream. */
import { layerChunkTransport } from "@holdfast/adapter-http"
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import { clientLayer } from "@holdfast/client"
import {
  clusterFlag,
  natsAccessFlags,
  natsConnections,
  natsFlag,
  serveLayer
} from "@holdfast/process"
import { WorkerId } from "@holdfast/wire"
import { Config, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"

const flags = {
  cluster: clusterFlag,
  nats: natsFlag,
  ...natsAccessFlags,
  id: Flag.String("id").pipe(
    Flag.withDescription("This worker's name"),
    Flag.withFallbackConfig(Config.String("HOLDFAST_WORKER")),
    Flag.withSchema(WorkerId)
  ),
  leaseTermMs: Flag.Int("lease-term-ms").pipe(
    Flag.withDescription("A worker not heard of for so long loses its shards"),
    Flag.withDefault(15_000)
  ),
  checkpointIntervalMs: Flag.Int("checkpoint-interval-ms").pipe(
    Flag.withDescription("How often progress is stored"),
    Flag.withDefault(2_000)
  ),
  discoveryIntervalMs: Flag.Int("discovery-interval-ms").pipe(
    Flag.withDescription("How often new archives are looked for"),
    Flag.withDefault(10_000)
  ),
  check: Flag.Boolean("check").pipe(
    Flag.withDescription("Check the configuration and exit"),
    Flag.withDefault(false)
  )
}

/** `holdfast worker`. */
export const workerCommand = Command.make("worker", flags, (options) =>
  Effect.gen(function* () {
    const { cluster, id } = options
    // The other commands need not wait for the service to load.
    const { jetStreamPorts } = yield* Effect.promise(() => import("./jet-stream-ports.ts"))
    const { workerProcess } = yield* Effect.promise(() => import("./worker-process.ts"))
    const { checkpointIntervalMs, discoveryIntervalMs, leaseTermMs } = options
    // A renewal every fifth and a margin of a fifth leave room for three renewals that are lost.
    const fifth = Math.max(1, Math.floor(leaseTermMs / 5))
    const running = workerProcess({
      cluster,
      worker: id,
      settings: {
        checkpointIntervalMs,
        discoveryIntervalMs,
        leaseTermMs,
        leaseRenewalMs: fifth,
        leaseMarginMs: fifth
      }
    })
    if (options.check) return
    const layer = running.pipe(
      Layer.provide(jetStreamPorts(cluster)),
      Layer.provide(clientLayer({ cluster, sender: id })),
      Layer.provide(Layer.mergeAll(natsMessagingLayer(), layerChunkTransport)),
      Layer.provide(natsConnections(options, `holdfast-worker-${id}`))
    )
    yield* serveLayer(`worker ${id}`, layer)
  })
).pipe(Command.withDescription("Run a worker: it archives the streams of all archives"))
