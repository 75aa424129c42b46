/** The archive pipeline: records to segments, chunks and the catalogue. */
export { archiveModule, ArchiveModuleSettings } from "./archive-module.ts"
export {
  archiveNamed,
  archivePipelineLayer,
  type ArchivePipelineOptions
} from "./archive-pipeline.ts"
export { housekeepingLayer } from "./housekeeping.ts"
export { idlePutsLayer, type IdlePutsOptions, makeIdlePuts } from "./idle-puts.ts"
export { applyRetentionToAll, retentionLayer, type RetentionOptions } from "./retention.ts"
