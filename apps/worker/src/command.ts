/** `worker`: one worker on NATS and JetStream, or as the child of a MultiLangDaemon. */
import { layerChunkTransport } from "@holdfast/adapter-http"
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import { clientLayer } from "@holdfast/client"
import { failure, natsConnections, serveLayer, serviceFlags, timeFlag } from "@holdfast/process"
import { WorkerId } from "@holdfast/wire"
import { Config, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { choosePipeline, isArchiving, pipelineFlags, workerConfigOf } from "./pipeline-flags.ts"
import { takeStandardOutput } from "./standard-output.ts"
import { parseStreamShards } from "./stream-shards.ts"

const flags = {
  ...serviceFlags,
  ...pipelineFlags,
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
  // A renewal every fifth and a margin of a fifth leave room for three renewals that are lost.
  const fifth = Math.max(1, Math.floor(leaseTermMs / 5))
  const { group, layer: pipeline } = yield* choosePipeline(options, {
    cluster,
    worker: id,
    archiveOf: ({ shard }) => shard
  })
  const config = yield* workerConfigOf(options, {
    cluster,
    worker: id,
    group: isArchiving(options) ? "" : group,
    checkpointIntervalMs,
    discoveryIntervalMs,
    leaseTermMs,
    leaseRenewalMs: fifth,
    leaseMarginMs: fifth
  })
  const isAcknowledged = Option.getOrUndefined(options.acknowledge) === "watermark"
  const shards = isArchiving(options)
    ? []
    : yield* parseStreamShards(options.stream, { group, isAcknowledged })
  if (options.check) return
  // The other commands need not wait for the service to load.
  const { archiveWorker, streamWorker } = yield* Effect.promise(
    () => import("./jet-stream-worker.ts")
  )
  const deadLetter = Option.getOrUndefined(options.deadLetter)
  const running = isArchiving(options)
    ? archiveWorker({ config, pipeline })
    : streamWorker({ config, pipeline, shards, deadLetter })
  yield* serveLayer(`worker ${id}`, Layer.provide(running, surroundings(options)))
})

/** What a daemon's shard belongs to: the archive that it goes to, or the stream that is named. */
const streamOfDaemon = Effect.fnUntraced(function* (options: WorkerOptions) {
  const archive = Option.getOrUndefined(options.archive)
  if (isArchiving(options)) {
    return archive === undefined
      ? yield* failure("--multilang needs --archive: the archive that the records go to")
      : archive
  }
  const [stream, ...others] = options.stream
  if (archive !== undefined || stream === undefined || others.length > 0) {
    return yield* failure(
      "--multilang with a pipeline of your own needs one --stream, the Kinesis stream's name, and no --archive"
    )
  }
  return stream
})

const serveDaemon = Effect.fnUntraced(function* (options: WorkerOptions) {
  const { checkpointIntervalMs, cluster, id } = options
  const stream = yield* streamOfDaemon(options)
  // A daemon starts a child for each shard: their names must differ.
  const worker = Option.getOrUndefined(WorkerId.makeOption(`${id}-${process.pid}`))
  if (worker === undefined) {
    return yield* failure(`--id "${id}" leaves no room for the number of this process behind it`)
  }
  const { childSettings, multiLangWorker } = yield* Effect.promise(
    () => import("./multilang-worker.ts")
  )
  const config = yield* workerConfigOf(options, {
    ...childSettings,
    checkpointIntervalMs,
    cluster,
    worker
  })
  const { layer } = yield* choosePipeline(options, { cluster, worker, archiveOf: () => stream })
  const { retentionLayer } = yield* Effect.promise(() => import("@holdfast/service-archive"))
  if (options.check) return
  yield* multiLangWorker({
    config,
    input: process.stdin,
    output: takeStandardOutput(),
    stream,
    // Every worker looks after retention: ending a segment twice changes nothing.
    pipeline: isArchiving(options) ? Layer.merge(layer, retentionLayer()) : layer
  }).pipe(Effect.provide(surroundings(options)))
})

/** `holdfast worker`. */
export const workerCommand = Command.make("worker", flags, (options) =>
  options.multilang ? serveDaemon(options) : serveJetStream(options)
).pipe(
  Command.withDescription(
    "Run a worker: it archives the streams of all archives, or runs a pipeline of your own"
  )
)
