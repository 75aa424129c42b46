/** The chunk data path over HTTP, and Messaging over loopback HTTP for a second terminal. */
export { layerChunkEndpoint } from "./chunk-endpoint.ts"
export {
  type ChunkTransportLimits,
  layerChunkTransport,
  layerChunkTransportWith
} from "./chunk-transport.ts"
export { layerLoopbackMessaging } from "./loopback-client.ts"
export { type LoopbackServerOptions, serveLoopback } from "./loopback-server.ts"
