export { type CallError, type CallOptions, type CallResult, makeCaller } from "./call.ts"
export {
  CapabilityClaims,
  type CapabilityRefusal,
  CapabilityRight,
  type Mac,
  type MacRing,
  receiptText,
  ringOfOne,
  signCapability,
  signReceipt,
  verifyCapability,
  verifyReceipt
} from "./capability.ts"
export * as ChunkServerOperations from "./chunk-server.ts"
export {
  copyBytes,
  decodeCopies,
  encodeCopies,
  type ReportedCopy,
  reportPartCopiesMax
} from "./copy-list.ts"
export { decodeFrame, encodeFrame, type Frame } from "./frame.ts"
export {
  ClusterId,
  Count,
  DeviceId,
  HexKey,
  HostId,
  identifierPattern,
  PeerId,
  RackName,
  WorkerId
} from "./identifiers.ts"
export * as MetadataChunkServerOperations from "./metadata-chunk-servers.ts"
export * as MetadataOperations from "./metadata.ts"
export {
  headerNames,
  type Operation,
  operation,
  protocolVersion,
  type ServiceName,
  subjectOf,
  type WireSchema
} from "./operation.ts"
export { decodeParts, encodeParts, partBytes } from "./parts.ts"
export * as PeerMembershipOperations from "./peer-membership.ts"
export * as PeerReplicationOperations from "./peer-replication.ts"
export * as PeerOperations from "./peer.ts"
export {
  decodeRecords,
  encodeRecords,
  isPackable,
  packedBytes,
  recordListMax
} from "./record-list.ts"
export { makeRequestId } from "./request-id.ts"
export { type Answer, type RequestContext, serveOperation, type ServeOptions } from "./serve.ts"
export { ProtocolError, ServiceError } from "./service-error.ts"
export * as SpoolOperations from "./spool.ts"
export * as WorkerOperations from "./worker.ts"
