/** `worker`: one worker on NATS and JetStream, or as the child of a MultiLangDaemon. */
import { layerChunkTransport } from "@holdfast/adapter-http"
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import { clientLayer } from "@holdfast/client"
import { failure, natsConnections, serveLayer, serviceFlags, timeFlag } from "@holdfast/process"
import { WorkerId } from "@holdfast/wire"
import { Config, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { takeStandardOutput } from "./standard-output.ts"

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
  ),
  multilang: Flag.Boolean("multilang").pipe(
    Flag.withDescription(
      "Take one Kinesis shard from a MultiLangDaemon, on standard input and output"
    ),
    Flag.withDefault(false)
  ),
  archive: Flag.String("archive").pipe(
    Flag.withDescription("With --multilang: the archive that the shard's records go to"),
    Flag.optional
  )
}

type WorkerOptions = Command.Command.Config.Infer<typeof flags>

/** What every worker of a cluster needs around it. */
const surroundings = (options: WorkerOptions) => {
  const { cluster, id } = options
  return clientLayer({ cluster, sender: id }).pipe(
    Layer.provideMerge(Layer.mergeAll(natsMessagingLayer(), layerChunkTransport)),
    Layer.provideMerge(natsConnections(options, `holdfast-worker-${id}`))
  )
}

const serveJetStream = Effect.fnUntraced(function* (options: WorkerOptions) {
  const { checkpointIntervalMs, cluster, discoveryIntervalMs, id, leaseTermMs } = options
  // The other commands need not wait for the service to load.
  const { jetStreamPorts } = yield* Effect.promise(() => import("./jet-stream-ports.ts"))
  const { workerProcess } = yield* Effect.promise(() => import("./worker-process.ts"))
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
    Layer.provide(surroundings(options))
  )
  yield* serveLayer(`worker ${id}`, layer)
})

const serveDaemon = Effect.fnUntraced(function* (options: WorkerOptions) {
  const { checkpointIntervalMs, cluster, id } = options
  const archive = Option.getOrUndefined(options.archive)
  if (archive === undefined) {
    return yield* failure("--multilang needs --archive: the archive that the records go to")
  }
  // A daemon starts a child for each shard: their names must differ.
  const worker = Option.getOrUndefined(WorkerId.makeOption(`${id}-${process.pid}`))
  if (worker === undefined) {
    return yield* failure(`--id "${id}" leaves no room for the number of this process behind it`)
  }
  const { archivePipelineLayer, retentionLayer } = yield* Effect.promise(
    () => import("@holdfast/service-archive")
  )
  const { multiLangWorker } = yield* Effect.promise(() => import("./multilang-worker.ts"))
  if (options.check) return
  yield* multiLangWorker({
    cluster,
    worker,
    input: process.stdin,
    output: takeStandardOutput(),
    stream: archive,
    // Every worker looks after retention: ending a segment twice changes nothing.
    pipeline: Layer.merge(archivePipelineLayer({ archiveOf: () => archive }), retentionLayer()),
    settings: { checkpointIntervalMs }
  }).pipe(Effect.provide(surroundings(options)))
})

/** `holdfast worker`. */
export const workerCommand = Command.make("worker", flags, (options) =>
  options.multilang ? serveDaemon(options) : serveJetStream(options)
).pipe(Command.withDescription("Run a worker: it archives the streams of all archives"))
