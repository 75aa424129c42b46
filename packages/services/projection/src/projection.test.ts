import { MemoryDisk, MemoryNetwork, memoryPartitionStore } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { ClientConfig, clientSettingsDefault, PeerClient } from "@holdfast/client"
import { PeerId } from "@holdfast/keyspace"
import { hostApplication, startPeer } from "@holdfast/service-peer"
import { ClusterId } from "@holdfast/wire"
import { Context, Effect, Layer, Schema, Scope } from "effect"
import { aggregateOf } from "../../worker/src/testing/aggregate.ts"
import { makeWorld, pass } from "../../worker/src/testing/world.ts"
import { partitionKeyOf, projectionLayer, type ProjectionOptions } from "./projection.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const names = ["a", "b", "c"]

/** Adds up, and remembers how many events it was that were counted. */
const totals = hostApplication<number, number, { readonly sum: number; readonly events: number }>({
  name: "totals",
  version: 1,
  Event: Schema.Int,
  Output: Schema.Int,
  State: Schema.Struct({ sum: Schema.Int, events: Schema.Int }),
  initial: { sum: 0, events: 0 },
  apply: (amount, { events, sum }) => ({
    output: sum + amount,
    state: { sum: sum + amount, events: events + 1 }
  }),
  index: () => []
})

/** `apple 3` adds 3 to the partition of apples. */
const project: ProjectionOptions["project"] = ({ data }) =>
  decoder
    .decode(data)
    .split(",")
    .map((text) => {
      const [fruit = "", amount = ""] = text.split(" ")
      return { key: partitionKeyOf("totals", fruit), event: JSON.parse(amount) }
    })

/** Workers on shared memory ports, and three peers that host the application. */
const makeProjection = (more: Partial<ProjectionOptions> = {}) =>
  Effect.gen(function* () {
    const world = yield* makeWorld
    const scope = yield* Scope.Scope
    const founders = names.map((name) => ({ peer: PeerId.make(name) }))
    for (const name of names) {
      const disk = yield* MemoryDisk.make()
      const ports = Layer.merge(
        MemoryNetwork.layer(world.network, name),
        memoryPartitionStore(disk)
      )
      const context = yield* Layer.buildWithScope(Layer.fresh(ports), scope)
      yield* startPeer({
        cluster: ClusterId.make("c1"),
        peer: PeerId.make(name),
        founders,
        applications: [totals],
        times: { helloMillis: 100, gossipMillis: 100, drainMillis: 100 }
      }).pipe(Effect.provideContext(context), Effect.orDie)
    }
    const client = PeerClient.layer.pipe(
      Layer.provide(Layer.succeed(ClientConfig, { ...clientSettingsDefault, cluster: "c1" })),
      Layer.provide(MemoryNetwork.layer(world.network, "client"))
    )
    const options = { application: "totals", source: "test", project, ...more }
    const pipeline = Layer.provide(projectionLayer(options), client)
    const peers = Context.get(yield* Layer.buildWithScope(client, scope), PeerClient)
    const fold = (fruit: string) =>
      peers.read({ application: "totals", key: partitionKeyOf("totals", fruit) })
    const put = (...texts: ReadonlyArray<string>) =>
      world.appendData("fruit", ...texts.map((text) => encoder.encode(text)))
    return { world, pipeline, fold, put }
  })

/** The checkpoint is due in an hour; only those that are asked for are written. */
const unhurried = { checkpointIntervalMs: 3_600_000 }

describe("a projection", () => {
  it.effect("folds each record's events into the partitions that it names, in order", () =>
    Effect.gen(function* () {
      const { fold, pipeline, put, world } = yield* makeProjection()
      yield* put("apple 3,pear 1", "apple 4", "pear 5,pear 6")
      yield* world.start("w1", { pipeline })
      yield* pass(4_000)
      assert.deepStrictEqual(yield* fold("apple"), { sum: 7, events: 2 })
      assert.deepStrictEqual(yield* fold("pear"), { sum: 12, events: 3 })
      assert.strictEqual(yield* world.position("fruit"), 3n)
    })
  )

  it.effect("counts once what comes again after a crash, however much of one key there is", () =>
    Effect.gen(function* () {
      const { fold, pipeline, put, world } = yield* makeProjection()
      const texts = Array.from(
        { length: 600 },
        (_, at) => `${at % 7 === 0 ? "pear" : "apple"} ${at}`
      )
      yield* put(...texts)
      const one = yield* world.start("w1", { pipeline, config: unhurried })
      while (((yield* world.position("fruit")) ?? 0n) < 200n) yield* pass(50)
      // What it still sends is confirmed by no checkpoint any more.
      one.freeze()
      yield* pass(8_000)
      yield* world.start("w2", { pipeline, config: unhurried })
      while (((yield* world.position("fruit")) ?? 0n) < 580n) yield* pass(50)
      yield* pass(10_000)
      const sumOf = (rest: (at: number) => boolean) =>
        texts.reduce((sum, _, at) => (rest(at) ? sum + at : sum), 0)
      const isPear = (at: number): boolean => at % 7 === 0
      assert.deepStrictEqual(yield* fold("pear"), { sum: sumOf(isPear), events: 86 })
      assert.deepStrictEqual(yield* fold("apple"), { sum: sumOf((at) => !isPear(at)), events: 514 })
    })
  )

  it.effect("takes the user records of aggregates, more of one key than may be unconfirmed", () =>
    Effect.gen(function* () {
      const { fold, pipeline, world } = yield* makeProjection({ unconfirmedMax: 4 })
      const records = Array.from({ length: 40 }, (_, at) => ["k", `apple ${at}`] as const)
      yield* world.appendData("fruit", aggregateOf(...records))
      yield* world.start("w1", { pipeline, config: { ...unhurried, aggregation: "kpl" } })
      yield* pass(4_000)
      assert.deepStrictEqual(yield* fold("apple"), { sum: 780, events: 40 })
    })
  )

  it.effect("does not send again what the application refuses, and goes on by the policy", () =>
    Effect.gen(function* () {
      const { fold, pipeline, put, world } = yield* makeProjection()
      yield* put("apple 1", 'apple "much"', "apple 2")
      const errorPolicy = {
        _tag: "Retry",
        schedule: { retries: 5, initialMs: 100, factor: 1, maximumMs: 100 },
        exhausted: "skip"
      }
      const one = yield* world.start("w1", { pipeline, config: { errorPolicy } })
      yield* pass(4_000)
      assert.deepStrictEqual(yield* fold("apple"), { sum: 3, events: 2 })
      assert.strictEqual(yield* world.position("fruit"), 3n)
      const { shards } = yield* one.worker.status
      assert.strictEqual(shards[0]!.counters["failures"], 1)
    })
  )
})
