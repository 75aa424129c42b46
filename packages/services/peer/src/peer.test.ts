import * as memory from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { codeOf, eventually, keyOf, makeCluster, makeWorld } from "./testing/cluster.ts"

const threePeers = Effect.gen(function* () {
  const world = yield* makeWorld(memory)
  const cluster = yield* makeCluster(world, ["a", "b", "c"])
  return { world, cluster }
})

describe("requests", () => {
  it.live("peer-T40: a write through any peer reaches all, and is folded everywhere", () =>
    Effect.gen(function* () {
      const { cluster } = yield* threePeers
      const first = yield* cluster.add(keyOf(1), [5], { at: "a" })
      assert.deepStrictEqual(first.outputs, [5])
      assert.isAtLeast(first.heldBy, 2)
      const second = yield* cluster.add(keyOf(1), [1, 2], { at: "b", writeConcern: "all" })
      assert.deepStrictEqual(second, { outputs: [6, 8], heldBy: 3 })
      yield* eventually(
        Effect.gen(function* () {
          for (const at of ["a", "b", "c"]) {
            const { infimum, pending, projected } = yield* cluster.show(keyOf(1), at)
            assert.deepStrictEqual([projected, infimum, pending], [8, 8, 0])
          }
        })
      )
    })
  )

  it.live("a peer that does not own the key passes the request on, with every concern", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(memory)
      const cluster = yield* makeCluster(world, ["a", "b", "c", "d", "e"], { factor: 2 })
      for (let number = 0; number < 20; number += 1) {
        for (const writeConcern of ["local", "one-more", "majority", "all"] as const) {
          yield* cluster.add(keyOf(number), [1], { at: "a", writeConcern })
        }
        assert.strictEqual(yield* cluster.read(keyOf(number), "e"), 4)
      }
      assert.strictEqual(yield* cluster.read(keyOf(999), "b"), null)
    })
  )

  it.live(
    "peer-T24: the same request again, at any peer, counts once and has the first output",
    () =>
      Effect.gen(function* () {
        const { cluster } = yield* threePeers
        const requestId = "request-1"
        const first = yield* cluster.add(keyOf(1), [5, 6], { at: "a", requestId })
        const again = yield* cluster.add(keyOf(1), [5, 6], { at: "b", requestId })
        assert.deepStrictEqual(again.outputs, first.outputs)
        assert.strictEqual(yield* cluster.read(keyOf(1)), 11)
      })
  )

  it.live("peer-T42: a job that throws fails alone, and so does an event of no schema", () =>
    Effect.gen(function* () {
      const { cluster } = yield* threePeers
      const [threw, invalid, fine] = yield* Effect.all(
        [
          codeOf(cluster.add(keyOf(1), [13], { at: "a", millis: 400 })),
          codeOf(cluster.add(keyOf(1), ["five"], { at: "a" })),
          cluster.add(keyOf(1), [5], { at: "a" })
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([threw, invalid, fine.outputs], ["internal", "invalid-event", [5]])
      assert.deepStrictEqual((yield* cluster.add(keyOf(1), [1])).outputs, [6])
    })
  )

  it.live("refusals: an application that is not hosted, a request that went in a circle", () =>
    Effect.gen(function* () {
      const { cluster } = yield* threePeers
      const hops = [{ peer: "a", epoch: 0 }]
      assert.strictEqual(
        yield* codeOf(cluster.add(keyOf(1), [1], { at: "a", hops })),
        "forward-loop"
      )
      assert.strictEqual(
        yield* codeOf(cluster.add(keyOf(1), [1], { at: "a", application: "other" })),
        "no-such-application"
      )
    })
  )

  it.live("a hundred writers on ten keys: every output differs, every write counts", () =>
    Effect.gen(function* () {
      const { cluster } = yield* threePeers
      const peers = ["a", "b", "c"]
      yield* Effect.forEach(
        Array.from({ length: 100 }, (_, index) => index),
        (index) =>
          cluster.add(keyOf(index % 10), [1], {
            at: peers[index % 3]!,
            writeConcern: index % 2 === 0 ? "majority" : "local"
          }),
        { concurrency: "unbounded" }
      )
      yield* eventually(
        Effect.gen(function* () {
          for (let number = 0; number < 10; number += 1) {
            for (const at of peers) assert.strictEqual(yield* cluster.read(keyOf(number), at), 10)
          }
        })
      )
    })
  )
})

describe("write concern", () => {
  it.live("that cannot be met in time is refused and says by how many the write is held", () =>
    Effect.gen(function* () {
      const { cluster, world } = yield* threePeers
      yield* world.network.apply({ _tag: "Partition", left: ["a", "client"], right: ["b", "c"] })
      const refused = yield* Effect.flip(
        cluster.add(keyOf(1), [5], { at: "a", requestId: "r1", millis: 1_000 })
      )
      assert.propertyVal(refused, "code", "write-concern-not-met")
      assert.include(refused.message, "held by 1 of the 2")
      yield* world.network.apply({ _tag: "Heal" })
      const again = yield* cluster.add(keyOf(1), [5], {
        at: "b",
        requestId: "r1",
        writeConcern: "all"
      })
      assert.strictEqual(yield* cluster.read(keyOf(1), "c"), 5)
      assert.deepStrictEqual(again.outputs, [5])
    })
  )
})

it.live("a partition that no message could carry is not let grow", () =>
  Effect.gen(function* () {
    const small = () => memory.MemoryNetwork.make({ maxPayloadBytes: 67_000 })
    const MemoryNetwork = { ...memory.MemoryNetwork, make: small }
    const world = yield* makeWorld({ ...memory, MemoryNetwork })
    const cluster = yield* makeCluster(world, ["a", "b"])
    const ones = (count: number) => Array.from({ length: count }, () => 1)
    yield* cluster.add(keyOf(1), ones(10), { at: "a" })
    const refused = codeOf(cluster.add(keyOf(1), ones(1_000), { at: "a" }))
    assert.strictEqual(yield* refused, "partition-too-large")
    assert.deepStrictEqual((yield* cluster.add(keyOf(1), [1], { at: "b" })).outputs, [11])
  })
)

describe("workers", () => {
  it.live("peer-T43: partitions that were touched once leave memory", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(memory)
      const cluster = yield* makeCluster(world, ["a"], { times: { idleMillis: 50 } })
      yield* Effect.forEach(
        Array.from({ length: 2_000 }, (_, index) => index),
        (index) => cluster.add(keyOf(index), [1], { at: "a" }),
        { concurrency: 200, discard: true }
      )
      yield* eventually(
        Effect.gen(function* () {
          const status = yield* cluster.status("a")
          assert.isAtMost(status.workers, 5)
          assert.strictEqual(status.applications[0]?.partitions, 2_000)
        })
      )
      assert.strictEqual(yield* cluster.read(keyOf(77), "a"), 1)
    })
  )

  it.live("peer-T41: what was answered is there after a crash of the process and the disk", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(memory)
      const cluster = yield* makeCluster(world, ["a"])
      for (let number = 0; number < 20; number += 1) yield* cluster.add(keyOf(number), [7])
      yield* world.network.apply({ _tag: "Crash", node: "a" })
      yield* world.disks.a.apply({ _tag: "Crash" })
      yield* cluster.stop("a")
      yield* cluster.start("a")
      for (let number = 0; number < 20; number += 1) {
        assert.strictEqual(yield* cluster.read(keyOf(number)), 7)
      }
    })
  )

  it.live("a failing disk fails the request, not the peer; the write is not kept", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(memory)
      const cluster = yield* makeCluster(world, ["a"])
      yield* cluster.add(keyOf(1), [1])
      yield* world.disks.a.apply({ _tag: "FailWrites", count: 1_000 })
      const code = yield* codeOf(cluster.add(keyOf(1), [1], { millis: 300 }))
      assert.strictEqual(code, "storage-unavailable")
      yield* world.disks.a.apply({ _tag: "FailWrites", count: 0 })
      assert.deepStrictEqual((yield* cluster.add(keyOf(1), [1])).outputs, [2])
    })
  )
})
