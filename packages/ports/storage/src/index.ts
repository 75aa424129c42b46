export { type ByteRange, ChunkDescription, ChunkName } from "./chunk.ts"
export {
  ChunkDeviceError,
  ChunkDevices,
  type ChunkWriter,
  DeviceIdentity,
  type DeviceUsage,
  type OpenDevice,
  type StoredCopy
} from "./chunk-device.ts"
export {
  ChunkEndpoint,
  type ChunkEndpointHandlers,
  ChunkReceipt,
  ChunkTarget,
  ChunkTransport,
  ChunkTransportError,
  type WriteOutcome
} from "./chunk-transport.ts"
export { Journal, type JournalContents, JournalError } from "./journal.ts"
export {
  type FactWrite,
  type KeyRange,
  type PartitionAddress,
  PartitionStore,
  PartitionStoreError,
  type PartitionWrite,
  type StoredPartition,
  type TagRecord
} from "./partition-store.ts"
