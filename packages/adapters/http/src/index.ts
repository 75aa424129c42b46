/** The chunk data path over HTTP, and Messaging over loopback HTTP for a second terminal. */
export type { ChunkTransportLimits } from "./chunk-connections.ts"
export {
  type ChunkEndpointTls,
  layerChunkEndpoint,
  layerChunkEndpointWith
} from "./chunk-endpoint.ts"
export {
  type ChunkTransportOptions,
  layerChunkTransport,
  layerChunkTransportWith
} from "./chunk-transport.ts"
export { type FollowedTls, followTlsFiles, tlsFilesReadEvery } from "./followed-tls.ts"
export { layerLoopbackMessaging } from "./loopback-client.ts"
export { type LoopbackServerOptions, serveLoopback } from "./loopback-server.ts"
export {
  readTlsFiles,
  type TlsFileNames,
  TlsFilesError,
  type TlsIdentity,
  type TlsMaterial
} from "./tls-files.ts"
