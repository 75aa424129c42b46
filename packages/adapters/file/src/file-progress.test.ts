import { describeCheckpointStoreContract, describeLeaseContract } from "@holdfast/suites"
import { Effect } from "effect"
import { damageValue, temporaryStorage } from "./testing/harm.ts"
import { fileCheckpointStore, fileLease } from "./index.ts"

const isNamed = (name: string) => (key: Buffer) => key.toString("utf8") === name

const checkpoints = Effect.map(temporaryStorage("checkpoints"), (made) => ({
  ...made,
  layer: fileCheckpointStore(made.options)
}))

const leases = Effect.map(temporaryStorage("leases"), (made) => ({
  ...made,
  layer: fileLease(made.options)
}))

describeCheckpointStoreContract({
  name: "file",
  storage: checkpoints,
  damage: ({ directory }, shard) =>
    damageValue({ directory, table: "checkpoints", isMeant: isNamed(shard) }),
  completionMapTooLong: 1_000_000
})

describeLeaseContract({
  name: "file",
  storage: leases,
  damage: ({ directory }, shard) =>
    damageValue({ directory, table: "leases", isMeant: isNamed(shard) })
})
