/**
 * The pipeline that a worker is told to run: one that is shipped, by its name, or a module of the
 * user's own, by its path.
 *
 *     archive | projection | ./path/to/module.ts      options: JSON, or a file that holds it
 */
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import type {
  ArchiveClient,
  CatalogueClient,
  ChunkClient,
  FileClient,
  MetadataClient,
  PeerClient
} from "@holdfast/client"
import type { Messaging } from "@holdfast/messaging"
import { type CommandFailure, failure } from "@holdfast/process"
import { type PipelineModule, type PipelineModuleError, pipelineOf } from "@holdfast/service-worker"
import { Effect, Schema } from "effect"

/** What a worker has around its pipeline, whichever that is. */
export type Surroundings =
  | ArchiveClient
  | CatalogueClient
  | ChunkClient
  | FileClient
  | MetadataClient
  | PeerClient
  | Messaging

/** A pipeline by its name or its path; a shipped one is loaded when it is asked for. */
export const loadPipeline = (
  named: string,
  archiveOf: (shard: { readonly shard: string; readonly stream: string }) => string
): Effect.Effect<PipelineModule<Surroundings>, PipelineModuleError | CommandFailure> => {
  switch (named) {
    case "archive":
      return Effect.map(
        Effect.promise(() => import("@holdfast/service-archive")),
        ({ archiveModule }): PipelineModule<Surroundings> => archiveModule(archiveOf)
      )
    case "projection":
      return Effect.map(
        Effect.promise(() => import("@holdfast/service-projection")),
        ({ projectionModule }): PipelineModule<Surroundings> => projectionModule
      )
    default:
      return loadModule(named)
  }
}

const loadModule = Effect.fnUntraced(function* (
  named: string
): Effect.fn.Return<PipelineModule<Surroundings>, PipelineModuleError | CommandFailure> {
  const path = resolve(named)
  if (!existsSync(path)) {
    return yield* failure(
      `there is no pipeline "${named}"; right would be archive, projection, or the path of a module`
    )
  }
  const exports = yield* Effect.tryPromise({
    try: (): Promise<unknown> => import(pathToFileURL(path).href),
    catch: (error) =>
      failure(
        `${named} cannot be loaded as a module: ${firstLine(error)}; right would be a file of ` +
          "JavaScript or TypeScript that Node runs as it is"
      )
  })
  return yield* Effect.fromResult(pipelineOf<Surroundings>(exports, named))
})

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message || error.name : String(error)).split("\n")[0] ?? ""

const decodeJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

/** Options as they are typed: JSON that begins with a brace, or a file that holds it. */
export const readOptions = Effect.fnUntraced(function* (
  flag: string,
  typed: string
): Effect.fn.Return<unknown, CommandFailure> {
  const isJson = typed.trimStart().startsWith("{")
  const text = isJson
    ? typed
    : yield* Effect.tryPromise({
        try: () => readFile(typed, "utf8"),
        catch: (error) =>
          failure(
            `${flag} is "${typed}", which cannot be read (${firstLine(error)}); right would be ` +
              `'{"name": value}' or a file that holds that`
          )
      })
  return yield* decodeJson(text).pipe(
    Effect.mapError((error) =>
      failure(
        `${flag} is no JSON: ${error.message.replaceAll(/\s*\n\s*/g, " ")}; right would be '{"name": value}'`
      )
    )
  )
})
