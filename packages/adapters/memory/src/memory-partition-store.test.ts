import { describePartitionStoreContract } from "@holdfast/suites"
import { Effect } from "effect"
import { MemoryDisk } from "./memory-disk.ts"
import { memoryPartitionStore } from "./memory-partition-store.ts"

const storage = Effect.map(MemoryDisk.make(), (disk) => ({
  disk,
  layer: memoryPartitionStore(disk)
}))

describePartitionStoreContract({
  name: "memory",
  storage,
  damage: ({ disk }, { application, key }) =>
    disk.apply({
      _tag: "FlipBit",
      file: "partitions",
      key: `p/${application}/${key}`,
      byte: 5,
      bit: 0
    }),
  room: {
    take: ({ disk }) => disk.apply({ _tag: "Capacity", bytes: 1_000_000 }),
    giveBack: ({ disk }) => disk.apply({ _tag: "Capacity", bytes: Number.MAX_SAFE_INTEGER })
  }
})
