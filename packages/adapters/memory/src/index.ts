/** Every port in memory, with a fault plan. */
export { MemoryNetwork, type MemoryNetworkOptions } from "./memory-network.ts"
export { faultlessLink, FaultPlan, LinkFaults, NetworkFault } from "./network-fault.ts"
export type { NetworkCounters, NetworkEvent } from "./network-trace.ts"
export { DiskFault } from "./disk-fault.ts"
export { DiskRefusal, type FileHold, MemoryDisk } from "./memory-disk.ts"
export { memoryJournal, type MemoryJournalOptions } from "./memory-journal.ts"
export { memoryPartitionStore, type MemoryPartitionStoreOptions } from "./memory-partition-store.ts"
