import { describeCheckpointStoreContract, describeLeaseContract } from "@holdfast/suites"
import { Effect } from "effect"
import { damageValue, temporaryStorage } from "./harm.ts"
import { fileCheckpointStore, fileLease } from "./index.ts"

const isNamed = (name: string) => (key: Buffer) => key.toString("utf8") === name

describeCheckpointStoreContract({
  name: "file",
  storage: Effect.map(temporaryStorage("checkpoints"), (storage) => ({
    ...storage,
    layer: fileCheckpointStore(storage.options)
  })),
  damage: ({ directory }, shard) =>
    damageValue({ directory, table: "checkpoints", isMeant: isNamed(shard) }),
  completionMapTooLong: 1_000_000
})

describeLeaseContract({
  name: "file",
  storage: Effect.map(temporaryStorage("leases"), (storage) => ({
    ...storage,
    layer: fileLease(storage.options)
  })),
  damage: ({ directory }, shard) =>
    damageValue({ directory, table: "leases", isMeant: isNamed(shard) })
})
