/** The contract suite of each port, run against every adapter of it. */
export { describeMessagingContract, type MessagingContract } from "./messaging.ts"
export { describeJournalContract, type JournalContract, type JournalStorage } from "./journal.ts"
export { describePartitionStoreContract, type PartitionStoreContract } from "./partition-store.ts"
export type { PartitionStorage } from "./partitions.ts"
export {
  type CheckpointStorage,
  type CheckpointStoreContract,
  describeCheckpointStoreContract
} from "./checkpoint-store.ts"
export { describeLeaseContract, type LeaseContract, type LeaseStorage } from "./lease.ts"
export {
  describeRecordSourceContract,
  type KeptField,
  type RecordSourceContract,
  type SourceStorage
} from "./record-source.ts"
export {
  describeRecordSpoolContract,
  type RecordSpoolContract,
  type SpoolStorage
} from "./record-spool.ts"
export { type ChunkDevicesContract, describeChunkDevicesContract } from "./chunk-devices.ts"
export type { DeviceStorage } from "./devices.ts"
export { type ChunkTransportContract, describeChunkTransportContract } from "./chunk-transport.ts"
