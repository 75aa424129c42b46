/**
 * The pipeline that a worker is told to run: one that is shipped, by its name, or a module of the
 * user's own, by its path.
 *
 *     archive | projection | ./path/to/module.ts
 */
import type {
  ArchiveClient,
  CatalogueClient,
  ChunkClient,
  FileClient,
  MetadataClient,
  PeerClient
} from "@holdfast/client"
import type { Messaging } from "@holdfast/messaging"
import { type CommandFailure, importModuleFile } from "@holdfast/process"
import { type PipelineModule, type PipelineModuleError, pipelineOf } from "@holdfast/service-worker"
import { Effect } from "effect"

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
  const exports = yield* importModuleFile({
    named,
    kind: "pipeline",
    shipped: ["archive", "projection"]
  })
  return yield* Effect.fromResult(pipelineOf<Surroundings>(exports, named))
})
