/** The chunk server as a process, and as a part of a larger one. */
export {
  type ChunkServerProcessOptions,
  formatMissingDevices,
  runChunkServer
} from "./chunk-server-process.ts"
export { chunkServerCommand } from "./command.ts"
export { observeChunkServer } from "./observations.ts"
