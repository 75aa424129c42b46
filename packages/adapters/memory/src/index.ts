/** Every port in memory, with a fault plan. */
export { MemoryNetwork, type MemoryNetworkOptions } from "./memory-network.ts"
export { faultlessLink, FaultPlan, LinkFaults, NetworkFault } from "./network-fault.ts"
export type { NetworkCounters, NetworkEvent } from "./network-trace.ts"
export { DiskFault } from "./disk-fault.ts"
export {
  durableBytes,
  type DurableCopy,
  durableCopies,
  type DurablePartition,
  durablePartitions
} from "./durable.ts"
export { DiskRefusal, type FileHold, MemoryDisk } from "./memory-disk.ts"
export { memoryJournal, type MemoryJournalOptions } from "./memory-journal.ts"
export { memoryPartitionStore, type MemoryPartitionStoreOptions } from "./memory-partition-store.ts"
export { checkpointKey, memoryCheckpointStore, readCheckpoint } from "./memory-checkpoint-store.ts"
export {
  KeyValueFault,
  KeyValueRefusal,
  MemoryKeyValue,
  type MemoryKeyValueOptions
} from "./memory-key-value.ts"
export { leaseKey, memoryLease } from "./memory-lease.ts"
export { memoryRecordSource, type MemoryRecordSourceOptions } from "./memory-record-source.ts"
export type { WatermarkOptions } from "./watermark-consumer.ts"
export { memoryRecordSpool } from "./memory-record-spool.ts"
export { MemoryStreams, StreamFault, StreamRefusal } from "./memory-streams.ts"
export { memoryChunkDevices } from "./memory-chunk-devices.ts"
export { MemoryChunkPath } from "./memory-chunk-path.ts"
