/** ChunkTransport and ChunkEndpoint over HTTP, and Messaging over loopback HTTP for a second terminal. */
export { layerChunkEndpoint } from "./chunk-endpoint.ts"
export {
  type ChunkTransportLimits,
  layerChunkTransport,
  layerChunkTransportWith
} from "./chunk-transport.ts"
