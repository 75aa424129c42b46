/** The chunk server: devices, the data path, reports and commands. */
export { type ChunkServer, type ChunkServerPorts, startChunkServer } from "./chunk-server.ts"
export {
  type ChunkServerOptions,
  type ChunkServerSettings,
  defaultSettings,
  type DeviceOptions
} from "./options.ts"
export type { ChunkServerStatus } from "./status.ts"
