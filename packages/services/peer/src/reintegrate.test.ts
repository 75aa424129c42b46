/** A peer that was ejected while it lived, and comes back with its store. */
import * as memory from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { PartitionStore, PartitionStoreError } from "@holdfast/storage"
import { Effect, Layer, Option } from "effect"
import { eventually, keyOf, makeCluster, makeWorld, type World } from "./testing/cluster.ts"
import { settled, type TestCluster } from "./testing/settled.ts"

/** Three on each key; `c` wrote what nobody else has, was ejected meanwhile, and has ended. */
const ejected = Effect.gen(function* () {
  const world = yield* makeWorld(memory)
  const cluster = yield* makeCluster(world, ["a", "b", "c", "d"])
  for (let number = 0; number < 30; number += 1) {
    yield* cluster.add(keyOf(number), [1], { writeConcern: "all", requestId: `first ${number}` })
  }
  yield* world.network.apply({ _tag: "Partition", left: ["c"], right: ["a", "b", "d"] })
  // What all hold and what c alone holds, of keys that are there and of new ones.
  for (let number = 20; number < 40; number += 1) {
    const write = { at: "c", writeConcern: "local", requestId: `last ${number}` } as const
    yield* Effect.ignore(cluster.add(keyOf(number), [10], { ...write, millis: 300 }))
  }
  yield* cluster.eject("c", "a")
  yield* settled(cluster, "a", ["a", "b", "d"])
  // Others write on meanwhile, so that what was remembered of requests is long forgotten.
  yield* Effect.forEach(
    Array.from({ length: 80 }, (_, number) => number),
    () => cluster.add(keyOf(25), [0], { at: "a" }),
    { discard: true }
  )
  yield* world.network.apply({ _tag: "Heal" })
  const c = cluster.running("c")
  assert.strictEqual(yield* c.ended, "ejected")
  yield* cluster.stop("c")
  return { world, cluster }
})
/** A world whose stores delete nothing, as if the process always ended just before. */
const keepingAll = (world: World): World => ({
  ...world,
  node: (name) => {
    const keeping = Effect.map(PartitionStore, (store) => {
      const commit: typeof store.commit = (change) =>
        change.partitions.some(({ state }) => Option.isNone(state))
          ? Effect.fail(
              new PartitionStoreError({ code: "unavailable", message: "nothing is deleted here" })
            )
          : store.commit(change)
      return { ...store, commit }
    })
    const node = world.node(name)
    return Layer.merge(node, Layer.provide(Layer.effect(PartitionStore, keeping), node))
  }
})

/** The counters on a disk. */
const stored = (disk: memory.MemoryDisk) =>
  memory
    .durablePartitions(disk.cells("partitions"))
    .filter(({ application }) => application === "counter")

/** The sum of each key, by way of a peer. */
const sums = Effect.fnUntraced(function* (cluster: TestCluster, at: string) {
  const all: Array<unknown> = []
  for (let number = 0; number < 40; number += 1) {
    all.push(yield* cluster.read(keyOf(number), at))
  }
  return all
})

/** What a key's sum may be: c wrote only to those that it owned. */
const allowed = (number: number): ReadonlyArray<unknown> =>
  number < 20 ? [1] : number < 30 ? [1, 11] : [null, 10]

describe("a peer that was ejected", () => {
  it.live("peer-T10: hands over what only it held, and joins as its next life", () =>
    Effect.gen(function* () {
      const { cluster } = yield* ejected
      const before = yield* sums(cluster, "a")
      const c = yield* cluster.start("c", { isReintegrated: true })
      assert.strictEqual(c.identity.incarnation, 1)
      yield* settled(cluster, "c", ["a", "b", "c", "d"])
      const after = yield* sums(cluster, "a")
      let returned = 0
      for (const [number, sum] of after.entries()) {
        assert.include<unknown>(allowed(number), sum, `key ${number}`)
        if (sum !== before[number]) returned += 1
      }
      assert.isAbove(returned, 8)
      yield* eventually(
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* sums(cluster, "c"), after)
        })
      )
    })
  )

  it.live("is refused where nobody said that it may, and told what would be right", () =>
    Effect.gen(function* () {
      const { cluster } = yield* ejected
      const refused = yield* Effect.flip(cluster.start("c"))
      assert.include(refused.message, "reintegrates")
    })
  )

  it.live("keeps its store where nobody takes it, and where it cannot be emptied", () =>
    Effect.gen(function* () {
      const { cluster, world } = yield* ejected
      const isReintegrated = true
      yield* world.network.apply({ _tag: "Partition", left: ["c"], right: ["a", "b", "d"] })
      const start = cluster.start("c", { isReintegrated, times: { joinMillis: 300 } })
      const alone = yield* Effect.flip(start)
      assert.include(alone.message, "cannot be handed over")
      assert.include(alone.message, "start again")
      yield* cluster.stop("c")
      yield* world.network.apply({ _tag: "Heal" })
      const undeletable = yield* makeCluster(keepingAll(world), ["a", "b", "c", "d"], {
        started: []
      })
      const kept = yield* Effect.flip(undeletable.start("c", { isReintegrated }))
      assert.include(kept.message, "nothing is deleted here")
      yield* undeletable.stop("c")
      const handedOver = yield* sums(cluster, "a")
      yield* cluster.start("c", { isReintegrated })
      yield* settled(cluster, "c", ["a", "b", "c", "d"])
      assert.deepStrictEqual(yield* sums(cluster, "b"), handedOver)
      for (const [number, sum] of handedOver.entries()) {
        assert.include(allowed(number), sum, `key ${number}`)
      }
    })
  )

  it.live(
    "does so also where it was down and does not know yet; where it was not, it goes on",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld(memory)
        const cluster = yield* makeCluster(world, ["a", "b", "c", "d"])
        for (let number = 0; number < 10; number += 1) yield* cluster.add(keyOf(number), [1])
        yield* cluster.stop("d")
        assert.strictEqual(
          (yield* cluster.start("d", { isReintegrated: true })).identity.incarnation,
          0
        )
        yield* settled(cluster, "d", ["a", "b", "c", "d"])
        yield* cluster.stop("c")
        yield* cluster.eject("c", "a")
        yield* settled(cluster, "a", ["a", "b", "d"])
        const again = yield* cluster.start("c", { isReintegrated: true })
        assert.strictEqual(again.identity.incarnation, 1)
        yield* settled(cluster, "c", ["a", "b", "c", "d"])
        for (let number = 0; number < 10; number += 1) {
          assert.strictEqual(yield* cluster.read(keyOf(number), "c"), 1)
        }
      })
  )

  it.live(
    "keeps only what it cannot read, and what is of an application that it does not host",
    () =>
      Effect.gen(function* () {
        const { cluster, world } = yield* ejected
        const isReintegrated = true
        const unhosted = yield* Effect.flip(
          cluster.start("c", { isReintegrated, applications: [] })
        )
        assert.include(unhosted.message, "counter, which is not hosted now")
        yield* cluster.stop("c")
        const [first] = stored(world.disks.c)
        const key = first?.cell ?? ""
        yield* world.disks.c.apply({ _tag: "FlipBit", file: "partitions", key, byte: 30, bit: 2 })
        const torn = yield* Effect.flip(cluster.start("c", { isReintegrated }))
        assert.include(torn.message, `counter/${first?.key} of the ejected peer cannot be read`)
        // All else is handed over.
        assert.deepStrictEqual(stored(world.disks.c), [])
        assert.isTrue(world.disks.c.cells("partitions").has(key))
        const handedOver = yield* sums(cluster, "a")
        assert.isAbove(handedOver.filter((sum) => sum === 11).length, 4)
      })
  )

  it.live("keeps a history that nobody else has", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(memory)
      const cluster = yield* makeCluster(world, ["a", "b", "c"], { factor: 1 })
      for (let number = 0; number < 12; number += 1) yield* cluster.add(keyOf(number), [1])
      const before = stored(world.disks.c)
      assert.isAbove(before.length, 0)
      yield* cluster.stop("c")
      yield* cluster.eject("c", "a")
      yield* settled(cluster, "a", ["a", "b"])
      const refused = yield* Effect.flip(cluster.start("c", { isReintegrated: true }))
      assert.include(refused.message, "no owner of counter/")
      assert.include(refused.message, `, and ${before.length - 1} more of counter like it`)
      assert.deepStrictEqual(stored(world.disks.c), before)
    })
  )
})
