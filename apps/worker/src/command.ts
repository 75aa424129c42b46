/** `worker`: one worker on NATS and JetStream. */
import { layerChunkTransport } from "@holdfast/adapter-http"
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import { clientLayer } from "@holdfast/client"
import { natsConnections, serveLayer, serviceFlags, timeFlag } from "@holdfast/process"
import { WorkerId } from "@holdfast/wire"
import { Config, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"

const flags = {
  ...serviceFlags,
  id: Flag.String("id").pipe(
    Flag.withDescription("This worker's name"),
    Flag.withFallbackConfig(Config.String("HOLDFAST_WORKER")),
    Flag.withSchema(WorkerId)
  ),
  leaseTermMs: timeFlag(
    "lease-term-ms",
    "A worker not heard of for so long loses its shards",
    15_000,
    1_000
  ),
  checkpointIntervalMs: timeFlag(
    "checkpoint-interval-ms",
    "How often progress is stored",
    2_000,
    1
  ),
  discoveryIntervalMs: timeFlag(
    "discovery-interval-ms",
    "How often new archives are looked for",
    10_000,
    1
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
