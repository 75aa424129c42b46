/** A metadata service whose journal stands in a directory. */
import { crc32 } from "node:zlib"
import { fileJournal } from "@holdfast/adapter-file"
import { type MetadataOptions, startMetadataService } from "@holdfast/service-metadata"
import type { ClusterId, MacRing } from "@holdfast/wire"
import { Layer } from "effect"

/** The numbers of the chunk map that differ from the defaults. */
export type MetadataMapSettings = NonNullable<MetadataOptions["map"]>

/** Which cluster it serves and where its journal is. */
export interface MetadataProcessOptions {
  readonly cluster: ClusterId
  readonly ring: MacRing
  readonly directory: string
  readonly map: MetadataMapSettings
}

/** Runs a metadata service for as long as the layer lives. */
export const metadataProcess = (options: MetadataProcessOptions) =>
  Layer.effectDiscard(
    startMetadataService({
      clusterId: options.cluster,
      ring: options.ring,
      crc32: (bytes) => crc32(bytes),
      map: options.map
    })
  ).pipe(Layer.provide(fileJournal({ directory: options.directory, clusterId: options.cluster })))
