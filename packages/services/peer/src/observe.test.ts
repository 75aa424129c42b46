import * as memory from "@holdfast/adapter-memory"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { hostApplication } from "./index.ts"
import { codeOf, eventually, keyOf, makeCluster, makeWorld } from "./testing/cluster.ts"

it.live("a peer tells what it holds: partitions in key order, one of them, and who is behind", () =>
  Effect.gen(function* () {
    const world = yield* makeWorld(memory)
    const cluster = yield* makeCluster(world, ["a", "b"])
    const keys = [3, 1, 2].map(keyOf)
    for (const key of keys) yield* cluster.add(key, [1], { writeConcern: "all" })
    const sorted = [...keys].sort()
    const first = yield* cluster.list("a", { limit: 2 })
    assert.deepStrictEqual(
      [first.partitions.map(({ key }) => key), first.more],
      [sorted.slice(0, 2), true]
    )
    const rest = yield* cluster.list("a", { limit: 2, after: sorted[1] ?? "" })
    assert.deepStrictEqual(
      [rest.partitions.map(({ key }) => key), rest.more],
      [sorted.slice(2), false]
    )
    assert.strictEqual(yield* codeOf(cluster.show(keyOf(9), "a")), "not-found")
    yield* cluster.stop("b")
    yield* cluster.add(keyOf(1), [1], { at: "a", writeConcern: "local" })
    const shown = yield* cluster.show(keyOf(1), "a")
    assert.deepInclude(shown, {
      projected: 2,
      infimum: 1,
      pending: 1,
      divergent: ["b.0"],
      participants: ["a.0", "b.0"],
      tags: ["any", "total-2"]
    })
    yield* eventually(
      Effect.gen(function* () {
        const { peers, pendingEvents } = yield* cluster.status("a")
        const [other] = peers
        assert.deepStrictEqual(
          [other?.live, other?.divergentPartitions, pendingEvents],
          [false, 1, 1]
        )
      })
    )
  })
)

it.live("peer-T34: tags that are no text are shown with escapes", () =>
  Effect.gen(function* () {
    const world = yield* makeWorld(memory)
    const binary = hostApplication<number, number, number>({
      name: "counter",
      version: 1,
      Event: Schema.Int,
      Output: Schema.Int,
      State: Schema.Int,
      initial: 0,
      apply: (step, total) => ({ output: step, state: total + step }),
      index: () => [new Uint8Array([0xff, 0x41, 0x5c, 0x00])]
    })
    const cluster = yield* makeCluster(world, ["a"], { started: [] })
    yield* cluster.start("a", { applications: [binary] })
    yield* cluster.add(keyOf(1), [1])
    const { tags } = yield* cluster.show(keyOf(1), "a")
    assert.deepStrictEqual(tags, ["\\xffA\\x5c\\x00"])
  })
)
