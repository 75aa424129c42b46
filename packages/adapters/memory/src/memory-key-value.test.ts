import { describeCheckpointStoreContract, describeLeaseContract } from "@holdfast/suites"
import { Effect } from "effect"
import { checkpointKey, memoryCheckpointStore } from "./memory-checkpoint-store.ts"
import { MemoryKeyValue } from "./memory-key-value.ts"
import { leaseKey, memoryLease } from "./memory-lease.ts"

const checkpoints = Effect.sync(() => {
  const keyValue = MemoryKeyValue.make()
  return { keyValue, layer: memoryCheckpointStore(keyValue) }
})

const leases = Effect.sync(() => {
  const keyValue = MemoryKeyValue.make()
  return { keyValue, layer: memoryLease(keyValue) }
})

const damaged = (key: string) =>
  ({ _tag: "Overwrite", key, value: new TextEncoder().encode("{") }) as const

describeCheckpointStoreContract({
  name: "memory",
  storage: checkpoints,
  damage: ({ keyValue }, shard) => keyValue.apply(damaged(checkpointKey(shard))),
  completionMapTooLong: 2_000_000
})

describeLeaseContract({
  name: "memory",
  storage: leases,
  damage: ({ keyValue }, shard) => keyValue.apply(damaged(leaseKey(shard)))
})
