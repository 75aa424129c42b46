/** The contract suite of each port, run against every adapter of it. */
export {
  type CheckpointStorage,
  type CheckpointStoreContract,
  describeCheckpointStoreContract
} from "./checkpoint-store.ts"
export type { ChunkDevicesContract } from "./chunk-devices-contract.ts"
export { describeChunkDevicesContract } from "./chunk-devices.ts"
export type { ChunkTransportContract } from "./chunk-transport-contract.ts"
export { describeChunkTransportContract } from "./chunk-transport.ts"
export type { DeviceStorage } from "./devices.ts"
export { describeJournalContract, type JournalContract, type JournalStorage } from "./journal.ts"
export { describeLeaseContract, type LeaseContract, type LeaseStorage } from "./lease.ts"
export type { MessagingContract } from "./messaging-contract.ts"
export { describeMessagingContract } from "./messaging.ts"
export type { PartitionStorage, PartitionStoreContract } from "./partition-store-contract.ts"
export { describePartitionStoreContract } from "./partition-store.ts"
export type { KeptField, RecordSourceContract, SourceStorage } from "./record-source-contract.ts"
export { describeRecordSourceContract } from "./record-source.ts"
export { describeReadmeExample, loadReadmeExample } from "./readme-example.ts"
export {
  describeRecordSpoolContract,
  type RecordSpoolContract,
  type SpoolStorage
} from "./record-spool.ts"
export type { TraceView } from "./trace-changes.ts"
export type { TraceCommand } from "./trace-command.ts"
export { describeTraces, type TraceLanguage, type TraceSuite } from "./trace-suite.ts"
