import * as memory from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { PeerId } from "@holdfast/keyspace"
import { Effect } from "effect"
import { hostApplication } from "./index.ts"
import {
  codeOf,
  counter,
  eventually,
  keyOf,
  makeCluster,
  makeWorld,
  shortTimes
} from "./testing/cluster.ts"

const gossipMillis = shortTimes.gossipMillis ?? 0

/** How often a partition is fetched during some rounds of gossip. */
const fetchesOfRounds = Effect.fnUntraced(function* (network: memory.MemoryNetwork) {
  const last = Math.max(...(yield* network.events).map(({ message }) => message))
  yield* Effect.sleep(5 * gossipMillis)
  return (yield* network.events).filter(
    ({ kind, message, subject }) =>
      kind === "request" && message > last && subject.endsWith(".fetch")
  ).length
})

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe("a start", () => {
  it.live("peer-T45: new on a store that is not empty, recover on an empty one: refused", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(memory)
      const cluster = yield* makeCluster(world, ["a", "b"])
      yield* cluster.stop("a")
      assert.strictEqual(yield* codeOf(cluster.start("a", { start: "new" })), "not-empty")
      yield* cluster.stop("a")
      const again = yield* cluster.start("a", { start: "recover" })
      assert.deepStrictEqual([again.identity.incarnation, again.identity.boot], [0, 2])
      assert.strictEqual(yield* codeOf(cluster.start("c", { start: "recover" })), "empty")
    })
  )

  it.live(
    "the store of another peer, a store in use, and a peer that nobody takes in: refused",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld(memory)
        const cluster = yield* makeCluster(world, ["a", "b"])
        assert.strictEqual(yield* codeOf(cluster.start("a")), "locked")
        yield* cluster.stop("a")
        yield* cluster.stop("b")
        const swapped = yield* makeCluster(
          { ...world, node: (name) => world.node(name === "a" ? "b" : "a") },
          ["a", "b"],
          { started: [] }
        )
        assert.strictEqual(yield* codeOf(swapped.start("a")), "other-peer")
        assert.strictEqual(yield* codeOf(cluster.start("c")), "not-a-member")
      })
  )

  it.live("a second life of a peer ends the service of the first", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(memory)
      const cluster = yield* makeCluster(world, ["a", "b"])
      const first = yield* cluster.start("d", {
        founders: [{ peer: PeerId.make("d") }]
      })
      yield* cluster.hello({ peer: "d", incarnation: 0, boot: first.identity.boot + 1 })
      yield* eventually(
        Effect.gen(function* () {
          assert.strictEqual(yield* codeOf(cluster.add(keyOf(1), [1], { at: "d" })), "fenced")
        })
      )
    })
  )
})

describe("damage", () => {
  it.live("peer-T44 B49: torn and unreadable partitions are fetched again from the others", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(memory)
      const cluster = yield* makeCluster(world, ["a", "b", "c"])
      for (const number of numbers(8)) {
        yield* cluster.add(keyOf(number), [number + 1], { writeConcern: "all" })
      }
      yield* cluster.stop("a")
      for (const number of numbers(4)) {
        const key = `p/counter/${keyOf(number)}`
        yield* world.disks.a.apply({ _tag: "FlipBit", file: "partitions", key, byte: 30, bit: 2 })
      }
      yield* cluster.start("a")
      yield* eventually(
        Effect.gen(function* () {
          for (const number of numbers(8)) {
            const shown = yield* cluster.show(keyOf(number), "a")
            assert.strictEqual(shown.projected, number + 1)
          }
          assert.strictEqual((yield* cluster.status("a")).quarantined, 0)
        })
      )
      const reply = yield* cluster.add(keyOf(0), [1], { at: "a", writeConcern: "all" })
      assert.deepStrictEqual(reply, { outputs: [2], heldBy: 3 })
    })
  )

  it.live(
    "a damaged partition is not written here while another owner is away; others answer",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld(memory)
        const cluster = yield* makeCluster(world, ["a", "b", "c"])
        yield* cluster.add(keyOf(1), [1], { writeConcern: "all" })
        yield* cluster.stop("a")
        yield* cluster.stop("c")
        const key = `p/counter/${keyOf(1)}`
        yield* world.disks.a.apply({ _tag: "FlipBit", file: "partitions", key, byte: 30, bit: 2 })
        yield* cluster.start("a")
        const reply = yield* cluster.add(keyOf(1), [1], { at: "a", writeConcern: "local" })
        assert.deepStrictEqual(reply.outputs, [2])
        assert.strictEqual((yield* cluster.status("a")).quarantined, 1)
        yield* cluster.start("c")
        yield* eventually(
          Effect.gen(function* () {
            assert.strictEqual((yield* cluster.show(keyOf(1), "a")).projected, 2)
            assert.strictEqual((yield* cluster.status("a")).quarantined, 0)
          })
        )
        // What is mended is left alone, or each round would take back what was written since.
        yield* eventually(
          Effect.gen(function* () {
            assert.strictEqual(yield* fetchesOfRounds(world.network), 0)
          })
        )
      })
  )
})

it("an application says by its schemas what it takes", () => {
  const hosted = hostApplication(counter)
  assert.deepStrictEqual([hosted.name, hosted.version], ["counter", 1])
})
