/** The client against peers as they are: the catalogue replicated three times, in one process. */
import { MemoryDisk, MemoryNetwork, memoryPartitionStore } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { makeCatalogue } from "@holdfast/catalogue"
import { PeerId } from "@holdfast/keyspace"
import { hostApplication, startPeer } from "@holdfast/service-peer"
import { ClusterId } from "@holdfast/wire"
import { Effect, Layer, Scope } from "effect"
import { cataloguePlatform } from "./index.ts"
import { makeWithArchive, numbers, positions, range, record } from "./testing/with-archive.ts"

const names = ["a", "b", "c"]

const network = Effect.gen(function* () {
  const made = yield* MemoryNetwork.make({ maxPayloadBytes: 1_048_576 })
  const scope = yield* Scope.Scope
  const founders = names.map((name) => ({ peer: PeerId.make(name) }))
  for (const name of names) {
    const disk = yield* MemoryDisk.make()
    const ports = Layer.merge(MemoryNetwork.layer(made, name), memoryPartitionStore(disk))
    const context = yield* Layer.buildWithScope(Layer.fresh(ports), scope)
    yield* startPeer({
      cluster: ClusterId.make("test"),
      peer: PeerId.make(name),
      founders,
      applications: [hostApplication(makeCatalogue(cataloguePlatform))],
      times: { helloMillis: 50, gossipMillis: 50, drainMillis: 100 }
    }).pipe(Effect.provideContext(context), Effect.orDie)
  }
  return {
    services: MemoryNetwork.layer(made, "metadata"),
    client: MemoryNetwork.layer(made, "client")
  }
}).pipe(Effect.orDie)

const withArchive = makeWithArchive(network, { withPeers: false })

describe("an archive whose catalogue is on real peers", () => {
  it.live("is written, read, searched, listed, changed and verified", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        for (let at = 0; at < 12; at++) yield* seal(range(at * 10 + 1, at * 10 + 10))
        yield* seal(
          [125, 127].map((at) => record(at)),
          { complete: false }
        )
        const archive = "orders"
        const all = [...numbers(1, 120), 125, 127]
        assert.deepStrictEqual(yield* positions(archives.read({ archive })), all)
        const tag = { name: "kind", value: "kind-2" }
        const found = yield* positions(archives.search({ archive, tag, timeFrom: 50_000n }))
        assert.deepStrictEqual(
          found,
          all.filter((at) => at % 5 === 2 && at >= 50)
        )
        const report = yield* archives.verify({ archive })
        assert.deepInclude(report, { segments: 13, records: 122, sound: true })
        yield* archives.pause("orders")
        assert.strictEqual((yield* archives.show("orders")).status, "paused")
      })
    )
  )

  it.live("ends what is too old", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* archives.change("orders", (settings) => ({ ...settings, keepMs: 1 }))
        yield* seal(range(1, 10))
        assert.strictEqual(yield* archives.applyRetention("orders"), 1)
        assert.deepStrictEqual(yield* positions(archives.read({ archive: "orders" })), [])
      })
    )
  )
})
