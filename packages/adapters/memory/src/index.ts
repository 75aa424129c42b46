/** Every port in memory, with a fault plan. */
export { MemoryNetwork, type MemoryNetworkOptions } from "./memory-network.ts"
export { faultlessLink, FaultPlan, LinkFaults, NetworkFault } from "./network-fault.ts"
export type { NetworkCounters, NetworkEvent } from "./network-trace.ts"
