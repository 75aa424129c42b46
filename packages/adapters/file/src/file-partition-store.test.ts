import { describePartitionStoreContract } from "@holdfast/suites"
import { Effect } from "effect"
import { damageValue, room, temporaryStorage } from "./harm.ts"
import { filePartitionStore } from "./index.ts"

describePartitionStoreContract({
  name: "file",
  storage: Effect.map(temporaryStorage("partitions"), (storage) => ({
    ...storage,
    layer: filePartitionStore(storage.options)
  })),
  damage: ({ directory }, { application, key }) =>
    damageValue({
      directory,
      table: "partitions",
      isMeant: (tableKey) =>
        tableKey.toString("hex").endsWith(key) && tableKey.toString().startsWith(application)
    }),
  room
})
