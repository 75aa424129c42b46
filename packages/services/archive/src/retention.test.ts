import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { makeWithArchive, positions, range } from "../../../client/src/testing/with-archive.ts"
import { retentionLayer } from "./index.ts"

const network = Effect.map(MemoryNetwork.make({ maxPayloadBytes: 1_048_576 }), (made) => ({
  services: MemoryNetwork.layer(made, "services"),
  client: MemoryNetwork.layer(made, "client")
}))

it.live("ends what is too old and what was removed, whatever fails in between", () =>
  makeWithArchive(network)(({ archives, cluster, seal }) =>
    Effect.gen(function* () {
      yield* archives.change("orders", (settings) => ({ ...settings, keepMs: 1 }))
      for (let at = 0; at < 5; at++) yield* seal(range(at * 10 + 1, at * 10 + 10))
      cluster.failNext.set("free", 2)
      yield* Layer.build(retentionLayer({ every: "10 millis" }))
      while (cluster.chunks.some(({ isFreed }) => !isFreed)) yield* Effect.sleep("5 millis")
      assert.deepStrictEqual(yield* positions(archives.read({ archive: "orders" })), [])
      yield* archives.change("orders", (settings) => ({ ...settings, keepMs: 2 ** 50 }))
      yield* seal(range(100, 110))
      yield* seal(range(111, 120), { until: "committed" })
      yield* archives.remove("orders")
      while (cluster.chunks.some(({ isFreed }) => !isFreed)) yield* Effect.sleep("5 millis")
    }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))
  )
)
