/** The settings that say which pipeline a worker runs, over which streams, and how. */
import {
  type CommandFailure,
  failure,
  optionalList,
  optionalText,
  PlainText,
  type SettingValues,
  textSetting
} from "@holdfast/process"
import {
  type Pipeline,
  parseWorkerConfig,
  type PipelineModuleError,
  type WorkerConfig
} from "@holdfast/service-worker"
import type { ClusterId, WorkerId } from "@holdfast/wire"
import { Effect, type Layer, Predicate, Result, Schema } from "effect"
import { identifierPattern } from "@holdfast/wire"
import { loadPipeline, type Surroundings } from "./load-pipeline.ts"
import { readOptions } from "./pipeline-options.ts"

/** The settings. */
export const pipelineSettings = {
  pipeline: textSetting(PlainText, {
    description: "archive, projection, or the path of a module of your own",
    variables: ["HOLDFAST_PIPELINE"],
    value: "archive"
  }),
  options: optionalText(PlainText, {
    description: "The pipeline's options: JSON, or a file that holds it"
  }),
  stream: optionalList(PlainText, {
    description:
      'A stream that the pipeline reads, repeatable: "ORDERS", or some of it, "ORDERS=a.>"'
  }),
  group: optionalText(PlainText, {
    description: "Names the workers that share these streams (the pipeline's own name)"
  }),
  acknowledge: optionalText(Schema.Literals(["none", "watermark"]), {
    description:
      "watermark: read these streams with durable consumers, acknowledged up to what is done (none)"
  }),
  deadLetter: optionalText(PlainText, {
    description: "The stream for records that a pipeline of your own gave up"
  }),
  settings: optionalText(PlainText, {
    description: "Further settings of the worker: JSON, or a file that holds it"
  })
}

/** What the settings say. */
export type PipelineChoice = SettingValues<typeof pipelineSettings>

/** A pipeline that is ready to be opened. */
export interface ChosenPipeline {
  readonly group: string
  readonly layer: Layer.Layer<Pipeline, PipelineModuleError, Surroundings>
}

/** Whether the worker archives: its shards are the archives then. */
export const isArchiving = ({ pipeline }: Pick<PipelineChoice, "pipeline">): boolean =>
  pipeline === "archive"

const refuseWithArchives = (choice: PipelineChoice): CommandFailure | undefined => {
  const { acknowledge, deadLetter, group, stream } = choice
  const given = [
    ...(stream === undefined ? [] : ["--stream"]),
    ...(group === undefined ? [] : ["--group"]),
    ...(acknowledge === undefined ? [] : ["--acknowledge"]),
    ...(deadLetter === undefined ? [] : ["--dead-letter"])
  ]
  return isArchiving(choice) && given.length > 0
    ? failure(
        `${given.join(", ")} goes with a pipeline of your own; a worker that archives reads the ` +
          "streams of all archives, which say such things themselves"
      )
    : undefined
}

/** Loads the pipeline and checks its options. */
export const choosePipeline = Effect.fnUntraced(function* (
  choice: PipelineChoice,
  who: {
    readonly cluster: ClusterId
    readonly worker: WorkerId
    readonly archiveOf: (shard: { readonly shard: string; readonly stream: string }) => string
  }
): Effect.fn.Return<ChosenPipeline, CommandFailure | PipelineModuleError> {
  const refusal = refuseWithArchives(choice)
  if (refusal !== undefined) return yield* refusal
  const module = yield* loadPipeline(choice.pipeline, who.archiveOf)
  const group = choice.group ?? module.name
  if (!identifierPattern.test(group)) {
    return yield* failure(`--group is "${group}"; right would be letters, digits, "-" or "_"`)
  }
  const options =
    choice.options === undefined ? {} : yield* readOptions("--options", choice.options)
  const { cluster, worker } = who
  const layer = yield* Effect.fromResult(module.prepare(options, { cluster, worker, group }))
  return { group, layer }
})

/** The worker's configuration: what is known, and over it what `--settings` says. */
export const workerConfigOf = Effect.fnUntraced(function* (
  { settings }: Pick<PipelineChoice, "settings">,
  known: Readonly<Record<string, unknown>> & {
    readonly cluster: ClusterId
    readonly worker: WorkerId
  }
): Effect.fn.Return<WorkerConfig, CommandFailure> {
  const given = settings === undefined ? {} : yield* readOptions("--settings", settings)
  if (!Predicate.isObject(given) || Array.isArray(given)) {
    return yield* failure(`--settings holds no object; right would be '{"aggregation": "kpl"}'`)
  }
  const { cluster, worker } = known
  const config = parseWorkerConfig({ ...known, ...given, cluster, worker })
  return Result.isFailure(config)
    ? yield* failure(`the settings of the worker are wrong: ${config.failure.message}`)
    : config.success
})
