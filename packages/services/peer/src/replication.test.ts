import * as memory from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { codeOf, eventually, keyOf, makeCluster, makeWorld } from "./testing/cluster.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const clusterOf = (names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const world = yield* makeWorld(memory)
    return { world, cluster: yield* makeCluster(world, names) }
  })
type Cluster = Effect.Success<ReturnType<typeof clusterOf>>["cluster"]

/** Every peer holds the same, all of it folded. */
const settled = (
  cluster: Cluster,
  peers: ReadonlyArray<string>,
  expected: ReadonlyMap<number, number>
) =>
  eventually(
    Effect.gen(function* () {
      for (const [number, total] of expected) {
        for (const at of peers) {
          const { infimum, pending, projected } = yield* cluster.show(keyOf(number), at)
          assert.deepStrictEqual(
            [projected, infimum, pending],
            [total, total, 0],
            `${number} ${at}`
          )
        }
      }
    })
  )

describe("anti-entropy", () => {
  it.live("peer-B1 B26: a peer that was down gets what it missed, without any traffic", () =>
    Effect.gen(function* () {
      const { cluster } = yield* clusterOf(["a", "b", "c"])
      yield* cluster.add(keyOf(0), [1], { writeConcern: "all" })
      yield* cluster.stop("c")
      for (const number of numbers(40)) yield* cluster.add(keyOf(number), [1], { at: "a" })
      yield* cluster.stop("b")
      yield* cluster.start("b")
      yield* cluster.stop("a")
      yield* cluster.start("c")
      const expected = new Map(numbers(40).map((number) => [number, number === 0 ? 2 : 1]))
      yield* eventually(
        Effect.gen(function* () {
          for (const [number, total] of expected) {
            assert.strictEqual((yield* cluster.show(keyOf(number), "c")).projected, total)
          }
        })
      )
      yield* cluster.start("a")
      yield* settled(cluster, ["a", "b", "c"], expected)
    })
  )

  it.live("peer-B47: messages of which a third is lost, repeated or overtaken; all heals", () =>
    Effect.gen(function* () {
      const { cluster, world } = yield* clusterOf(["a", "b", "c"])
      const faults = { loss: 0.3, duplication: 0.3, delayMillis: [0, 15], reorder: 0.5 } as const
      for (const from of ["a", "b", "c"]) {
        for (const to of ["a", "b", "c"]) {
          yield* world.network.apply({ _tag: "Links", from, to, faults })
        }
      }
      const totals = new Map<number, number>()
      yield* Effect.forEach(
        numbers(60),
        (index) => {
          const number = index % 6
          totals.set(number, (totals.get(number) ?? 0) + 1)
          return cluster.add(keyOf(number), [1], {
            at: ["a", "b", "c"][index % 3]!,
            writeConcern: "local"
          })
        },
        { concurrency: 6 }
      )
      yield* settled(cluster, ["a", "b", "c"], totals)
    })
  )

  it.live("peer-B52 B27: two sides that were cut off both write, and become one when healed", () =>
    Effect.gen(function* () {
      const { cluster, world } = yield* clusterOf(["a", "b", "c"])
      yield* cluster.add(keyOf(1), [1], { writeConcern: "all" })
      yield* world.network.apply({ _tag: "Partition", left: ["a"], right: ["b", "c"] })
      yield* cluster.add(keyOf(1), [10], { at: "a", writeConcern: "local" })
      yield* cluster.add(keyOf(1), [100], { at: "b", writeConcern: "majority" })
      yield* cluster.add(keyOf(2), [5], { at: "a", writeConcern: "local" })
      yield* cluster.add(keyOf(2), [7], { at: "c", writeConcern: "local" })
      yield* eventually(
        Effect.gen(function* () {
          const { peers } = yield* cluster.status("a")
          assert.deepStrictEqual(
            peers.map(({ live }) => live),
            [false, false]
          )
        })
      )
      yield* world.network.apply({ _tag: "Heal" })
      yield* settled(
        cluster,
        ["a", "b", "c"],
        new Map([
          [1, 111],
          [2, 12]
        ])
      )
    })
  )

  it.live("peer-T50: a burst for a peer that is down waits once for each partition", () =>
    Effect.gen(function* () {
      const { cluster } = yield* clusterOf(["a", "b", "c"])
      yield* cluster.stop("c")
      yield* Effect.forEach(
        numbers(300),
        (index) => cluster.add(keyOf(index % 3), [1], { at: "a", writeConcern: "local" }),
        { concurrency: 20, discard: true }
      )
      assert.isAtMost((yield* cluster.status("a")).workers, 3)
      yield* cluster.start("c")
      const expected = new Map(numbers(3).map((number) => [number, 100]))
      yield* settled(cluster, ["a", "b", "c"], expected)
    })
  )
})

describe("failover", () => {
  it.live("peer-T22 B37: of three owners two are dead; the third answers", () =>
    Effect.gen(function* () {
      const { cluster } = yield* clusterOf(["a", "b", "c", "d", "e"])
      for (const number of numbers(10)) yield* cluster.add(keyOf(number), [1])
      yield* cluster.stop("a")
      yield* cluster.stop("b")
      for (const number of numbers(10)) {
        const reply = yield* cluster.add(keyOf(number), [1], { at: "c", writeConcern: "local" })
        assert.deepStrictEqual(reply.outputs, [2])
      }
    })
  )

  it.live("peer-B11: writers that retry lose nothing while peers come and go", () =>
    Effect.gen(function* () {
      const { cluster } = yield* clusterOf(["a", "b", "c"])
      const confirmed = new Map<number, number>()
      const writer = Effect.fnUntraced(function* (number: number) {
        for (const round of numbers(12)) {
          const requestId = `w${number}-${round}`
          yield* eventually(
            Effect.suspend(() =>
              cluster.add(keyOf(number), [1], {
                at: ["a", "b", "c"][(round + number) % 3]!,
                requestId,
                millis: 700
              })
            ).pipe(
              Effect.catch(() =>
                cluster.add(keyOf(number), [1], { at: "c", requestId, millis: 700 })
              )
            )
          )
          confirmed.set(number, (confirmed.get(number) ?? 0) + 1)
        }
      })
      const restarts = Effect.gen(function* () {
        for (const name of ["a", "b"]) {
          yield* Effect.sleep(150)
          yield* cluster.stop(name)
          yield* Effect.sleep(150)
          yield* cluster.start(name)
        }
      })
      yield* Effect.all([restarts, ...numbers(6).map(writer)], { concurrency: "unbounded" })
      assert.deepStrictEqual(
        [...confirmed.values()],
        numbers(6).map(() => 12)
      )
      yield* settled(cluster, ["a", "b", "c"], confirmed)
    })
  )

  it.live("peer-B55: a stop ends in time though a request to dead owners is under way", () =>
    Effect.gen(function* () {
      const { cluster } = yield* clusterOf(["a", "b", "c"])
      yield* cluster.stop("b")
      yield* cluster.stop("c")
      const asked = yield* Effect.forkChild(
        Effect.exit(cluster.add(keyOf(1), [1], { at: "a", writeConcern: "all", millis: 20_000 }))
      )
      yield* Effect.sleep(50)
      const closed = yield* Effect.timeoutOption(cluster.stop("a"), 5_000)
      assert.strictEqual(closed._tag, "Some")
      asked.interruptUnsafe()
    })
  )
})

it.live("peer-T48 T27: who was never heard is listed so; a stranger's state is refused", () =>
  Effect.gen(function* () {
    const world = yield* makeWorld(memory)
    const cluster = yield* makeCluster(world, ["a", "b"])
    yield* eventually(
      Effect.gen(function* () {
        const status = yield* cluster.status("a")
        assert.isTrue(status.peers[0]?.live)
        assert.isDefined(status.peers[0]?.lastHeardMs)
      })
    )
    const alone = yield* makeCluster(yield* makeWorld(memory), ["a", "b"], { started: ["a"] })
    const status = yield* alone.status("a")
    const [unheard] = status.peers
    assert.isFalse(unheard?.live)
    assert.isUndefined(unheard?.lastHeardMs)
    assert.strictEqual(
      yield* codeOf(cluster.tell("a", { peer: "zed", incarnation: 0, boot: 1 })),
      "stale-sender"
    )
    const { boot } = yield* cluster.status("b")
    yield* cluster.stop("b")
    yield* cluster.start("b")
    yield* eventually(
      Effect.gen(function* () {
        const code = yield* codeOf(cluster.tell("a", { peer: "b", incarnation: 0, boot }))
        assert.strictEqual(code, "stale-sender")
      })
    )
  })
)
