/** The archive's pipeline as a module: what can be said of it in JSON. */
import type { ArchiveClient, CatalogueClient, ChunkClient, MetadataClient } from "@holdfast/client"
import { definePipeline } from "@holdfast/service-worker"
import { PeerOperations } from "@holdfast/wire"
import { Schema } from "effect"
import { type ArchivePipelineOptions, archivePipelineLayer } from "./archive-pipeline.ts"

const atLeastOne = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/** The options of the archive's pipeline; archives have settings of their own beside them. */
export const ArchiveModuleSettings = Schema.Struct({
  writeConcern: Schema.optionalKey(PeerOperations.WriteConcern),
  /** Fewer durable copies than this (or than the goal) are a failure. */
  minCopies: Schema.optionalKey(atLeastOne(15)),
  /** Segments of one shard that are being stored at a time. */
  storingMax: Schema.optionalKey(atLeastOne(64)),
  /** Attempts at a segment before its records are reported as failed. */
  attemptsMax: Schema.optionalKey(atLeastOne(1_000))
})
/** The options of the archive's pipeline. */
export type ArchiveModuleSettings = typeof ArchiveModuleSettings.Type

/** The archive's pipeline, as `worker` runs it unless it is told another one. */
export const archiveModule = (archiveOf: ArchivePipelineOptions["archiveOf"]) =>
  definePipeline<
    ArchiveModuleSettings,
    never,
    ArchiveClient | CatalogueClient | ChunkClient | MetadataClient
  >({
    name: "archive",
    options: ArchiveModuleSettings,
    layer: (settings) => archivePipelineLayer({ archiveOf, ...settings })
  })
