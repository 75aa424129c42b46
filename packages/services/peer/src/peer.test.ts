import { MemoryDisk, MemoryNetwork, memoryPartitionStore } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { eventually, keyOf, makeCluster } from "./testing/cluster.ts"

const makeWorld = Effect.gen(function* () {
  const network = yield* MemoryNetwork.make()
  const disks = new Map<string, MemoryDisk>()
  for (const name of ["a", "b", "c", "d", "e"]) disks.set(name, yield* MemoryDisk.make())
  return {
    network,
    disks,
    node: (name: string) =>
      Layer.merge(MemoryNetwork.layer(network, name), memoryPartitionStore(disks.get(name)!)),
    client: MemoryNetwork.layer(network, "client")
  }
})

describe("three peers", () => {
  it.live("a write through any peer is read through any other", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const cluster = yield* makeCluster(world, ["a", "b", "c"])
      const first = yield* cluster.add(keyOf(1), [5], { at: "a" })
      assert.deepStrictEqual(first.outputs, [5])
      assert.isAtLeast(first.heldBy, 2)
      const second = yield* cluster.add(keyOf(1), [1, 2], { at: "b", writeConcern: "all" })
      assert.deepStrictEqual(second.outputs, [6, 8])
      yield* eventually(
        Effect.gen(function* () {
          for (const at of ["a", "b", "c"]) {
            const shown = yield* cluster.show(keyOf(1), at)
            assert.deepStrictEqual(
              { projected: shown.projected, infimum: shown.infimum, pending: shown.pending },
              { projected: 8, infimum: 8, pending: 0 }
            )
          }
        })
      )
    })
  )
})
