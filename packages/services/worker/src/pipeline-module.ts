/**
 * A pipeline as a module: what a file exports by default so that a worker can load it by its path.
 *
 *     export default definePipeline({ name, options: Schema, layer: (options) => Layer<Pipeline> })
 *
 * 1. The options are checked by the module's own schema before anything else of it runs.
 * 2. Whatever is wrong with a module or its options is one sentence that says what would be right.
 */
import type { ClusterId, WorkerId } from "@holdfast/wire"
import { Cause, Effect, Layer, Predicate, Result, Schema } from "effect"
import { Pipeline } from "./pipeline.ts"
import { unknownOption } from "./unknown-option.ts"

/**
 * A pipeline cannot be loaded. `not-found`: there is no such file. `broken`: the file throws when it
 * is loaded or opened. `ill-formed`: it exports no pipeline. `invalid-options`: its schema refuses
 * the options.
 */
export class PipelineModuleError extends Schema.TaggedError<PipelineModuleError>()(
  "PipelineModuleError",
  {
    code: Schema.Literals(["not-found", "broken", "ill-formed", "invalid-options"]),
    message: Schema.String
  }
) {}

/** For whom a pipeline runs. */
export interface PipelineContext {
  readonly cluster: ClusterId
  readonly worker: WorkerId
  /** Names the workers that share its shards. */
  readonly group: string
}

/** What a module says of its pipeline; `R` is what the worker around it must provide. */
export interface PipelineDefinition<Options, E, R> {
  /** Names the workers that share this pipeline's shards, unless they are told another name. */
  readonly name: string
  /** What may be said of it; `Schema.Struct({})` when nothing may. */
  readonly options: Schema.Codec<Options, unknown>
  readonly layer: (options: Options, context: PipelineContext) => Layer.Layer<Pipeline, E, R>
}

/** The same text in every copy of this package that a program may have loaded. */
const mark = "@holdfast/service-worker/PipelineModule/1"

/** A pipeline that can be loaded; its options' type stays inside. */
export interface PipelineModule<R = never> {
  readonly mark: typeof mark
  readonly name: string
  /** Checks the options and prepares the pipeline; nothing of it is open yet. */
  readonly prepare: (
    options: unknown,
    context: PipelineContext
  ) => Result.Result<Layer.Layer<Pipeline, PipelineModuleError, R>, PipelineModuleError>
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

const invalid = (name: string, message: string) =>
  new PipelineModuleError({
    code: "invalid-options",
    message: `the options of the pipeline "${name}" are wrong: ${message.replaceAll(/\s*\n\s*/g, " ")}`
  })

const broken = (name: string, error: unknown) =>
  new PipelineModuleError({
    code: "broken",
    message: `the pipeline "${name}" cannot be opened: ${textOf(error)}`
  })

const textOf = (error: unknown): string =>
  Predicate.hasProperty(error, "message") && typeof error.message === "string"
    ? error.message
    : String(error)

/** The first option that the schema does not know, where the schema names its options. */
const findUnknown = (schema: object, given: unknown): string | undefined => {
  if (!Predicate.hasProperty(schema, "fields") || !Predicate.isObject(schema.fields)) {
    return undefined
  }
  if (!Predicate.isObject(given)) return undefined
  const known = Object.keys(schema.fields)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown === undefined) return undefined
  return known.length === 0
    ? `there is no option "${unknown}"; it takes none`
    : unknownOption(unknown, known)
}

const decoderOf = <Options>(schema: Schema.Codec<Options, unknown>) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (given: unknown): Result.Result<Options, string> => {
    const unknown = findUnknown(schema, given)
    return unknown === undefined
      ? Result.mapError(decode(given), ({ message }) => message)
      : Result.fail(unknown)
  }
}

/** Makes a module of a pipeline: a file's default export. Throws where the name is none. */
export const definePipeline = <Options, E = never, R = never>(
  definition: PipelineDefinition<Options, E, R>
): PipelineModule<R> => {
  const { layer, name } = definition
  if (!namePattern.test(name)) {
    throw new Error(`"${name}" is no name of a pipeline: 1 to 64 letters, digits, "-" or "_"`)
  }
  const decode = decoderOf(definition.options)
  return {
    mark,
    name,
    prepare: (options, context) => {
      const decoded = decode(options)
      if (Result.isFailure(decoded)) return Result.fail(invalid(name, decoded.failure))
      try {
        return Result.succeed(
          Layer.catchCause(layer(decoded.success, context), (cause) =>
            Layer.effect(Pipeline, Effect.fail(broken(name, Cause.squash(cause))))
          )
        )
      } catch (error) {
        return Result.fail(broken(name, error))
      }
    }
  }
}

const isPipelineModule = <R>(value: unknown): value is PipelineModule<R> =>
  Predicate.hasProperty(value, "mark") && value.mark === mark

/** The pipeline among the exports of a file, for a worker that provides `R` to it. */
export const pipelineOf = <R>(
  exports: unknown,
  path: string
): Result.Result<PipelineModule<R>, PipelineModuleError> => {
  const found = Predicate.hasProperty(exports, "default") ? exports.default : undefined
  if (isPipelineModule<R>(found)) return Result.succeed(found)
  const instead =
    found === undefined
      ? "it has no default export"
      : "its default export is something else, or of another version"
  return Result.fail(
    new PipelineModuleError({
      code: "ill-formed",
      message:
        `${path} exports no pipeline (${instead}); right would be \`export default ` +
        "definePipeline({ name, options, layer })` of @holdfast/service-worker"
    })
  )
}
