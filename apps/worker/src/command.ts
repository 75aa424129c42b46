/** `worker`: one worker on NATS and JetStream, or as the child of a MultiLangDaemon. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import { clientLayer } from "@holdfast/client"
import {
  booleanSetting,
  checkDataTls,
  clusterSettings,
  dataTlsSettings,
  dataTransportLayer,
  failure,
  natsConnections,
  natsOptionsOf,
  natsSettings,
  optionalText,
  PlainText,
  requiredText,
  serviceCommand,
  type SettingValues,
  timeSetting
} from "@holdfast/process"
import { WorkerId } from "@holdfast/wire"
import { Effect, Layer, Option } from "effect"
import { observeDaemonWorker, observeWorker } from "./observations.ts"
import {
  choosePipeline,
  isArchiving,
  pipelineSettings,
  workerConfigOf
} from "./pipeline-settings.ts"
import { takeStandardOutput } from "./standard-output.ts"
import { parseStreamShards } from "./stream-shards.ts"

const settings = {
  ...clusterSettings,
  ...natsSettings,
  ...dataTlsSettings,
  ...pipelineSettings,
  id: requiredText(WorkerId, {
    description: "This worker's name",
    variables: ["HOLDFAST_WORKER"]
  }),
  leaseTermMs: timeSetting({
    description: "A worker not heard of for so long loses its shards",
    value: 15_000,
    least: 1_000
  }),
  checkpointIntervalMs: timeSetting({
    description: "How often progress is stored",
    value: 2_000,
    least: 1
  }),
  discoveryIntervalMs: timeSetting({
    description: "How often new archives are looked for",
    value: 10_000,
    least: 1
  }),
  putIdleMs: timeSetting({
    description: "A put of a file of which nothing more was stored for so long is given up",
    value: 86_400_000,
    least: 1_000
  }),
  multilang: booleanSetting({
    description: "Take one Kinesis shard from a MultiLangDaemon, on standard input and output"
  }),
  archive: optionalText(PlainText, {
    description: "With --multilang: the archive that the shard's records go to"
  })
}

type Values = SettingValues<typeof settings>

const connectionOf = ({ id }: Values): string => `holdfast-worker-${id}`

/** What every worker of a cluster needs around it. */
const surroundings = (values: Values) =>
  clientLayer({ cluster: values.cluster, sender: values.id }).pipe(
    Layer.provideMerge(Layer.mergeAll(natsMessagingLayer(), dataTransportLayer(values))),
    Layer.provideMerge(natsConnections(values, connectionOf(values)))
  )

const prepareJetStream = Effect.fnUntraced(function* (values: Values) {
  const { checkpointIntervalMs, cluster, deadLetter, discoveryIntervalMs, id, leaseTermMs } = values
  // A renewal every fifth and a margin of a fifth leave room for three renewals that are lost.
  const fifth = Math.max(1, Math.floor(leaseTermMs / 5))
  const { group, layer: pipeline } = yield* choosePipeline(values, {
    cluster,
    worker: id,
    archiveOf: ({ shard }) => shard
  })
  const config = yield* workerConfigOf(values, {
    cluster,
    worker: id,
    group: isArchiving(values) ? "" : group,
    checkpointIntervalMs,
    discoveryIntervalMs,
    leaseTermMs,
    leaseRenewalMs: fifth,
    leaseMarginMs: fifth
  })
  const isAcknowledged = values.acknowledge === "watermark"
  const shards = isArchiving(values)
    ? []
    : yield* parseStreamShards(values.stream ?? [], { group, isAcknowledged })
  // The other commands need not wait for the service to load.
  const { archiveWorker, streamWorker } = yield* Effect.promise(
    () => import("./jet-stream-worker.ts")
  )
  const running = isArchiving(values)
    ? archiveWorker({ config, pipeline, putIdleMs: values.putIdleMs })
    : streamWorker({ config, pipeline, shards, deadLetter })
  const layer = Layer.provideMerge(running, surroundings(values))
  const start = Effect.map(Layer.build(layer), (context) => ({
    observations: observeWorker({ cluster, worker: id, context })
  }))
  return { label: `worker ${id}`, start }
})

/** What a daemon's shard belongs to: the archive that it goes to, or the stream that is named. */
const streamOfDaemon = Effect.fnUntraced(function* (values: Values) {
  const { archive } = values
  if (isArchiving(values)) {
    return archive === undefined
      ? yield* failure("--multilang needs --archive: the archive that the records go to")
      : archive
  }
  const [stream, ...others] = values.stream ?? []
  if (archive !== undefined || stream === undefined || others.length > 0) {
    return yield* failure(
      "--multilang with a pipeline of your own needs one --stream, the Kinesis stream's name, and no --archive"
    )
  }
  return stream
})

const prepareDaemon = Effect.fnUntraced(function* (values: Values) {
  const { checkpointIntervalMs, cluster, id } = values
  const stream = yield* streamOfDaemon(values)
  // A daemon starts a child for each shard: their names must differ.
  const worker = Option.getOrUndefined(WorkerId.makeOption(`${id}-${process.pid}`))
  if (worker === undefined) {
    return yield* failure(`--id "${id}" leaves no room for the number of this process behind it`)
  }
  const { childSettings, multiLangWorker } = yield* Effect.promise(
    () => import("./multilang-worker.ts")
  )
  const config = yield* workerConfigOf(values, {
    ...childSettings,
    checkpointIntervalMs,
    cluster,
    worker
  })
  const { layer } = yield* choosePipeline(values, { cluster, worker, archiveOf: () => stream })
  const { housekeepingLayer } = yield* Effect.promise(() => import("@holdfast/service-archive"))
  const serve = Effect.suspend(() =>
    multiLangWorker({
      config,
      input: process.stdin,
      output: takeStandardOutput(),
      stream,
      pipeline: isArchiving(values)
        ? Layer.merge(layer, housekeepingLayer({ idleFor: values.putIdleMs }))
        : layer
    })
  )
  return {
    label: `worker ${worker}`,
    start: Effect.map(Layer.build(surroundings(values)), (context) => ({
      observations: observeDaemonWorker(cluster, context),
      serve: Effect.provide(serve, context)
    }))
  }
})

/** `holdfast worker`. */
export const workerCommand = serviceCommand({
  name: "worker",
  description:
    "Run a worker: it archives the streams of all archives, or runs a pipeline of your own",
  settings,
  prepare: (values) =>
    Effect.gen(function* () {
      yield* natsOptionsOf(values, connectionOf(values))
      yield* checkDataTls(values)
      return values.multilang ? yield* prepareDaemon(values) : yield* prepareJetStream(values)
    })
})
