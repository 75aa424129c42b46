/** The metadata service as a process, and as a part of a larger one. */
export { metadataCommand } from "./command.ts"
export { observeMetadata } from "./observations.ts"
export {
  type MetadataMapSettings,
  metadataProcess,
  type MetadataProcessOptions
} from "./metadata-process.ts"
