/** Clusters that grow and shrink while they are written to and searched. */
import * as memory from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { PartitionKey } from "@holdfast/keyspace"
import { Effect, Fiber } from "effect"
import type { PeerTimes } from "./index.ts"
import { codeOf, eventually, keyOf, makeCluster, makeWorld } from "./testing/cluster.ts"
import { settled, type TestCluster } from "./testing/settled.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const filled = Effect.fnUntraced(function* (
  names: ReadonlyArray<string>,
  count: number,
  times: Partial<PeerTimes> = {}
) {
  const world = yield* makeWorld(memory)
  const cluster = yield* makeCluster(world, names, { times })
  yield* Effect.forEach(
    numbers(count),
    (number) => cluster.add(keyOf(number), [1], { writeConcern: "all" }),
    { concurrency: 20, discard: true }
  )
  return { world, cluster }
})
/** Everything that a search finds at a peer, page after page; asked again until it is complete. */
const found = Effect.fnUntraced(function* (cluster: TestCluster, at: string, limit: number) {
  const keys: Array<string> = []
  const ask = (options: Parameters<TestCluster["search"]>[0]) =>
    eventually(
      Effect.tap(cluster.search({ at, limit, ...options }), ({ missing }) =>
        Effect.sync(() => assert.deepStrictEqual(missing, []))
      )
    )
  let page = yield* ask({})
  for (;;) {
    keys.push(...page.records.map(({ key }) => key))
    if (page.next === undefined) return keys
    page = yield* ask({ after: page.next })
  }
})

const sortedKeys = (count: number): ReadonlyArray<string> => numbers(count).map(keyOf).sort()

describe("a join", () => {
  it.live("peer-T17: what was born before a peer came is with it when it owns the key", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b"], 30)
      yield* cluster.join("c")
      const { epoch } = yield* settled(cluster, "c", ["a", "b", "c"])
      assert.strictEqual(epoch, 1)
      for (const number of numbers(30)) {
        const shown = yield* cluster.show(keyOf(number), "c")
        assert.strictEqual(shown.projected, 1)
        assert.deepStrictEqual(shown.participants, ["a.0", "b.0", "c.0"])
      }
    })
  )

  it.live("peer-B6 P8: each walk finds every key once while a fourth peer joins", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c"], 120)
      const walking = yield* Effect.forkChild(
        Effect.forEach(numbers(12), () => found(cluster, "a", 25), { concurrency: 2 })
      )
      yield* cluster.join("d")
      yield* settled(cluster, "a", ["a", "b", "c", "d"])
      for (const walk of yield* Fiber.join(walking)) {
        assert.deepStrictEqual(walk, sortedKeys(120))
      }
      assert.deepStrictEqual(yield* found(cluster, "d", 50), sortedKeys(120))
    })
  )

  it.live("peer-T31: who does not own a key any more lets go of it, and of its tags", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c"], 60)
      yield* cluster.join("d")
      yield* settled(cluster, "a", ["a", "b", "c", "d"])
      yield* eventually(
        Effect.gen(function* () {
          let copies = 0
          for (const peer of ["a", "b", "c", "d"]) {
            const { applications } = yield* cluster.status(peer)
            copies += applications.reduce((sum, { partitions }) => sum + partitions, 0)
          }
          assert.strictEqual(copies, 3 * 60)
        })
      )
      assert.deepStrictEqual(yield* found(cluster, "b", 50), sortedKeys(60))
    })
  )

  it.live("peer-T35: a join that is asked for again counts once; a lost store is not let in", () =>
    Effect.gen(function* () {
      const { cluster, world } = yield* filled(["a", "b"], 3)
      yield* cluster.join("c")
      yield* settled(cluster, "a", ["a", "b", "c"])
      yield* cluster.stop("c")
      const emptied = yield* makeCluster(
        { ...world, node: (name) => world.node(name === "c" ? "d" : name) },
        ["a", "b"],
        { started: [] }
      )
      assert.strictEqual(yield* codeOf(emptied.join("c")), "store-lost")
      yield* cluster.start("c")
      assert.strictEqual((yield* settled(cluster, "c", ["a", "b", "c"])).epoch, 1)
    })
  )

  it.live("two at once are both taken in; where nobody is, nobody is joined", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a"], 10)
      yield* Effect.forEach(["b", "c"], (name) => cluster.join(name), { concurrency: 2 })
      yield* settled(cluster, "a", ["a", "b", "c"])
      assert.strictEqual(yield* cluster.read(keyOf(3), "c"), 1)
      const nobody = yield* makeCluster(yield* makeWorld(memory), ["a"], { started: [] })
      assert.strictEqual(yield* codeOf(nobody.join("e")), "not-a-member")
    })
  )
})

describe("a leave", () => {
  it.live("peer-B8: nothing is missing when one of five has gone", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c", "d", "e"], 100)
      yield* cluster.stop("b")
      const b = yield* cluster.start("b")
      yield* cluster.leave("b", "a")
      yield* settled(cluster, "a", ["a", "c", "d", "e"])
      assert.strictEqual(yield* b.ended, "left")
      assert.strictEqual(yield* codeOf(cluster.view("b")), "left")
      yield* cluster.stop("b")
      assert.deepStrictEqual(yield* found(cluster, "d", 40), sortedKeys(100))
      const reply = yield* cluster.add(keyOf(7), [5], { writeConcern: "all" })
      assert.deepStrictEqual(reply, { outputs: [6], heldBy: 3 })
      assert.strictEqual(yield* codeOf(cluster.start("b")), "left")
    })
  )

  it.live("peer-B11: writers that retry lose nothing while two join and two leave", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c"], 0)
      const writing = yield* Effect.forkChild(
        Effect.forEach(
          numbers(150),
          (number) =>
            Effect.andThen(
              eventually(
                cluster.add(keyOf(number % 10), [1], { at: "a", requestId: `write-${number}` })
              ),
              Effect.sleep(20)
            ),
          { concurrency: 4, discard: true }
        )
      )
      yield* cluster.join("d")
      yield* cluster.join("e")
      yield* settled(cluster, "a", ["a", "b", "c", "d", "e"])
      yield* cluster.leave("b")
      yield* cluster.leave("c")
      yield* settled(cluster, "a", ["a", "d", "e"])
      yield* Fiber.join(writing)
      for (const key of numbers(10)) {
        assert.strictEqual(yield* cluster.read(keyOf(key), "d"), 15)
      }
    })
  )

  it.live("the last one does not leave, and a stranger cannot", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a"], 1)
      assert.strictEqual(yield* codeOf(cluster.leave("a")), "last-member")
      assert.strictEqual(yield* codeOf(cluster.leave("z")), "not-a-member")
    })
  )
})

describe("an ejection", () => {
  it.live("peer-T1: it waits for no step; what was lost is copied, and nothing is missing", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c", "d"], 60)
      yield* cluster.stop("b")
      yield* cluster.eject("b", "a")
      yield* settled(cluster, "a", ["a", "c", "d"])
      assert.deepStrictEqual(yield* found(cluster, "c", 25), sortedKeys(60))
      for (const number of [3, 17, 44]) {
        const reply = yield* cluster.add(keyOf(number), [1], { writeConcern: "all" })
        assert.deepStrictEqual(reply, { outputs: [2], heldBy: 3 })
        const shown = yield* cluster.show(keyOf(number), "d")
        assert.deepStrictEqual(shown.participants, ["a.0", "c.0", "d.0"])
      }
    })
  )

  it.live("peer-T46, peer-B41: one that missed its own ejection is told, and serves no more", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c", "d"], 10)
      yield* cluster.stop("b")
      yield* cluster.eject("b", "a")
      yield* settled(cluster, "a", ["a", "c", "d"])
      const b = yield* cluster.start("b")
      assert.strictEqual(yield* b.ended, "ejected")
      assert.strictEqual(yield* codeOf(cluster.view("b")), "ejected")
      yield* cluster.stop("b")
      assert.deepStrictEqual(yield* found(cluster, "a", 25), sortedKeys(10))
    })
  )

  it.live("who meets one that was put out, and does not know it, goes on", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c", "d"], 10, { requestMillis: 500 })
      yield* cluster.stop("c")
      yield* Effect.ignore(cluster.eject("b", "a"))
      yield* cluster.stop("a")
      yield* cluster.stop("d")
      const c = yield* cluster.start("c")
      yield* Effect.sleep(400)
      assert.strictEqual(c.parts.view.end, null)
      yield* cluster.start("a")
      yield* cluster.start("d")
      yield* settled(cluster, "c", ["a", "c", "d"])
      assert.strictEqual(c.parts.view.end, null)
      assert.deepStrictEqual(yield* found(cluster, "c", 25), sortedKeys(10))
    })
  )

  it.live(
    "peer-B2, peer-B31: one that never came; a search does not route to it, a new life joins",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld(memory)
        const cluster = yield* makeCluster(world, ["a", "b", "c", "d"], {
          started: ["a", "b", "c"]
        })
        for (const number of numbers(20)) yield* cluster.add(keyOf(number), [1])
        yield* cluster.eject("d", "b")
        yield* settled(cluster, "a", ["a", "b", "c"])
        assert.deepStrictEqual(yield* found(cluster, "a", 7), sortedKeys(20))
        const again = yield* cluster.start("d")
        assert.strictEqual(again.identity.incarnation, 1)
        yield* settled(cluster, "d", ["a", "b", "c", "d"])
        assert.deepStrictEqual(yield* found(cluster, "d", 7), sortedKeys(20))
      })
  )

  it.live(
    "peer-B37: two of three owners at once; the third serves, and there are three again",
    () =>
      Effect.gen(function* () {
        const { cluster } = yield* filled(["a", "b", "c", "d", "e"], 40)
        yield* cluster.stop("d")
        yield* cluster.stop("e")
        yield* cluster.eject("d", "a")
        yield* cluster.eject("e", "a")
        yield* settled(cluster, "a", ["a", "b", "c"])
        assert.deepStrictEqual(yield* found(cluster, "a", 15), sortedKeys(40))
        for (const peer of ["a", "b", "c"]) {
          const { applications } = yield* cluster.status(peer)
          assert.strictEqual(applications[0]?.partitions, 40)
        }
      })
  )

  it.live("peer-T4: the smaller half decides nothing; a peer does not put itself out", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c"], 3, { requestMillis: 500 })
      yield* cluster.stop("b")
      yield* cluster.stop("c")
      yield* Effect.ignore(cluster.eject("b", "a"))
      assert.strictEqual(yield* codeOf(cluster.eject("c", "a")), "no-majority")
      assert.strictEqual(yield* codeOf(cluster.eject("a", "a")), "self-ejection")
    })
  )

  it.live("where no majority is left an operator forces it, and the others go over", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c", "d", "e"], 30, { requestMillis: 1_000 })
      for (const gone of ["c", "d", "e"]) yield* cluster.stop(gone)
      for (const gone of ["c", "d", "e"]) yield* cluster.eject(gone, "a", true)
      yield* settled(cluster, "a", ["a", "b"])
      yield* settled(cluster, "b", ["a", "b"])
      const { missing, records } = yield* eventually(
        Effect.tap(cluster.search({ at: "b" }), (page) =>
          Effect.sync(() => assert.deepStrictEqual(page.missing, []))
        )
      )
      assert.deepStrictEqual(missing, [])
      // Three of five are gone at once: a key of which they were the owners is lost with them.
      assert.isAbove(records.length, 20)
      for (const { key } of records.slice(0, 5)) {
        const reply = yield* cluster.add(PartitionKey.make(key), [1], { writeConcern: "all" })
        assert.deepStrictEqual(reply, { outputs: [2], heldBy: 2 })
      }
      const c = yield* cluster.start("c")
      assert.strictEqual(yield* c.ended, "ejected")
    })
  )

  it.live("peer-T11: who is silent for too long is put out by itself, and comes back", () =>
    Effect.gen(function* () {
      const times = { ejectSilentMillis: 1_500 }
      const { cluster } = yield* filled(["a", "b", "c", "d"], 20, times)
      yield* cluster.stop("c")
      yield* settled(cluster, "a", ["a", "b", "d"])
      yield* eventually(
        Effect.gen(function* () {
          for (const number of numbers(20)) {
            const shown = yield* cluster.show(keyOf(number), "a")
            assert.deepStrictEqual([shown.infimum, shown.pending], [1, 0])
          }
        })
      )
      yield* cluster.start("c", { isReintegrated: true })
      yield* settled(cluster, "c", ["a", "b", "c", "d"])
    })
  )

  it.live("nobody is put out for silence by one who hears too few", () =>
    Effect.gen(function* () {
      const times = { ejectSilentMillis: 2_000 }
      const { cluster } = yield* filled(["a", "b", "c", "d"], 3, times)
      yield* cluster.stop("c")
      yield* cluster.stop("d")
      yield* Effect.sleep(4_000)
      for (const at of ["a", "b"]) {
        assert.strictEqual(cluster.running(at).parts.membership.projected.members.length, 4)
      }
    })
  )
})
