/** The flags that say which pipeline a worker runs, over which streams, and how. */
import { type CommandFailure, failure } from "@holdfast/process"
import {
  type Pipeline,
  parseWorkerConfig,
  type PipelineModuleError,
  type WorkerConfig
} from "@holdfast/service-worker"
import type { ClusterId, WorkerId } from "@holdfast/wire"
import { Config, Effect, type Layer, Option, Predicate, Result } from "effect"
import { Flag } from "effect/cli"
import { identifierPattern } from "@holdfast/wire"
import { loadPipeline, readOptions, type Surroundings } from "./load-pipeline.ts"

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** The flags. */
export const pipelineFlags = {
  pipeline: Flag.String("pipeline").pipe(
    Flag.withDescription("archive, projection, or the path of a module of your own"),
    Flag.withFallbackConfig(Config.String("HOLDFAST_PIPELINE").pipe(Config.withDefault("archive")))
  ),
  options: text("options", "The pipeline's options: JSON, or a file that holds it"),
  stream: Flag.String("stream").pipe(
    Flag.withDescription(
      'A stream that the pipeline reads, repeatable: "ORDERS", or some of it, "ORDERS=a.>"'
    ),
    Flag.atLeast(0)
  ),
  group: text("group", "Names the workers that share these streams (the pipeline's own name)"),
  acknowledge: Flag.Literals("acknowledge", ["none", "watermark"]).pipe(
    Flag.withDescription(
      "watermark: read these streams with durable consumers, acknowledged up to what is done (none)"
    ),
    Flag.optional
  ),
  deadLetter: text("dead-letter", "The stream for records that a pipeline of your own gave up"),
  settings: text("settings", "Further settings of the worker: JSON, or a file that holds it")
}

/** What the flags say. */
export interface PipelineChoice {
  readonly pipeline: string
  readonly options: Option.Option<string>
  readonly stream: ReadonlyArray<string>
  readonly group: Option.Option<string>
  readonly acknowledge: Option.Option<"none" | "watermark">
  readonly deadLetter: Option.Option<string>
  readonly settings: Option.Option<string>
}

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
    ...(stream.length > 0 ? ["--stream"] : []),
    ...(Option.isSome(group) ? ["--group"] : []),
    ...(Option.isSome(acknowledge) ? ["--acknowledge"] : []),
    ...(Option.isSome(deadLetter) ? ["--dead-letter"] : [])
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
  const group = Option.getOrElse(choice.group, () => module.name)
  if (!identifierPattern.test(group)) {
    return yield* failure(`--group is "${group}"; right would be letters, digits, "-" or "_"`)
  }
  const options = Option.isSome(choice.options)
    ? yield* readOptions("--options", choice.options.value)
    : {}
  const { cluster, worker } = who
  const layer = yield* Effect.fromResult(module.prepare(options, { cluster, worker, group }))
  return { group, layer }
})

/** The worker's configuration: what the flags say, and over it what `--settings` says. */
export const workerConfigOf = Effect.fnUntraced(function* (
  { settings }: Pick<PipelineChoice, "settings">,
  known: Readonly<Record<string, unknown>> & {
    readonly cluster: ClusterId
    readonly worker: WorkerId
  }
): Effect.fn.Return<WorkerConfig, CommandFailure> {
  const given = Option.isSome(settings) ? yield* readOptions("--settings", settings.value) : {}
  if (!Predicate.isObject(given) || Array.isArray(given)) {
    return yield* failure(`--settings holds no object; right would be '{"aggregation": "kpl"}'`)
  }
  const { cluster, worker } = known
  const config = parseWorkerConfig({ ...known, ...given, cluster, worker })
  return Result.isFailure(config)
    ? yield* failure(`the settings of the worker are wrong: ${config.failure.message}`)
    : config.success
})
