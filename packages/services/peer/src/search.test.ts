import * as memory from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, keyOf, makeCluster, makeWorld } from "./testing/cluster.ts"

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

const filled = (names: ReadonlyArray<string>, count: number) =>
  Effect.gen(function* () {
    const world = yield* makeWorld(memory)
    const cluster = yield* makeCluster(world, names)
    yield* Effect.forEach(
      numbers(count),
      (number) => cluster.add(keyOf(number), [1], { writeConcern: "all" }),
      { concurrency: 20, discard: true }
    )
    return { world, cluster }
  })
type Cluster = Effect.Success<ReturnType<typeof filled>>["cluster"]

/** A page that is complete; asked again for a while, as a client does. */
const completePage = (cluster: Cluster, options: Parameters<Cluster["search"]>[0]) =>
  eventually(
    Effect.tap(cluster.search(options), ({ missing }) =>
      Effect.sync(() => assert.deepStrictEqual(missing, []))
    )
  )

/** Walks through a tag by pages; the keys in the order they came. */
const walk = Effect.fnUntraced(function* (
  cluster: Cluster,
  options: { readonly at: string; readonly limit: number; readonly from?: string }
) {
  const keys: Array<string> = []
  let page = yield* completePage(cluster, options)
  for (;;) {
    keys.push(...page.records.map(({ key }) => key))
    if (page.next === undefined) return keys
    page = yield* completePage(cluster, { ...options, after: page.next })
  }
})

const sortedKeys = (count: number) => numbers(count).map(keyOf).sort()

describe("search", () => {
  it.live("peer-B7 P8: pages of any size ascend strictly and hold every record once", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c", "d", "e"], 60)
      for (const [index, limit] of [1, 7, 100].entries()) {
        const at = ["a", "c", "e"][index]!
        const keys = yield* eventually(walk(cluster, { at, limit }))
        assert.deepStrictEqual(keys, sortedKeys(60))
      }
    })
  )

  it.live(
    "peer-T32: a tag is there right after the write, its predecessor is gone; states too",
    () =>
      Effect.gen(function* () {
        const { cluster } = yield* filled(["a", "b", "c"], 3)
        yield* cluster.add(keyOf(1), [4], { writeConcern: "all" })
        const found = yield* eventually(
          Effect.gen(function* () {
            const reply = yield* cluster.search({ at: "b", from: "total-5", withState: true })
            assert.deepStrictEqual(reply.missing, [])
            return reply
          })
        )
        assert.deepStrictEqual(
          found.records.map(({ key, state }) => [key, state]),
          [[keyOf(1), 5]]
        )
        assert.deepStrictEqual(
          yield* walk(cluster, { at: "a", limit: 10, from: "total-1" }),
          [keyOf(0), keyOf(2)].sort()
        )
      })
  )

  it.live(
    "peer-T29 B31: a dead peer is passed over; when all owners are dead their keys are named",
    () =>
      Effect.gen(function* () {
        const { cluster } = yield* filled(["a", "b", "c", "d", "e"], 40)
        yield* eventually(walk(cluster, { at: "a", limit: 50 }))
        yield* cluster.stop("b")
        assert.deepStrictEqual(yield* walk(cluster, { at: "a", limit: 50 }), sortedKeys(40))
        assert.deepStrictEqual(yield* walk(cluster, { at: "a", limit: 50 }), sortedKeys(40))
        for (const name of ["c", "d", "e"]) yield* cluster.stop(name)
        const partial = yield* cluster.search({ at: "a", limit: 100 })
        assert.isAbove(partial.missing.length, 0)
        const isMissing = (key: string) =>
          partial.missing.some(([from, to]) => from <= key && key <= to)
        const expected = sortedKeys(40).filter((key) => !isMissing(key))
        assert.deepStrictEqual(
          partial.records.map(({ key }) => key),
          expected
        )
      })
  )

  it.live("peer-B10: one that comes back is not asked before it has what it missed", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c"], 5)
      yield* cluster.stop("b")
      yield* Effect.forEach(numbers(60), (number) => cluster.add(keyOf(number), [1]), {
        concurrency: 20,
        discard: true
      })
      yield* cluster.start("b")
      const keys = yield* eventually(walk(cluster, { at: "b", limit: 100 }))
      assert.deepStrictEqual(keys, sortedKeys(60))
    })
  )

  it.live("peer-B10: one that cannot save what the others send does not answer for it", () =>
    Effect.gen(function* () {
      const { cluster, world } = yield* filled(["a", "b", "c"], 5)
      yield* world.disks.c.apply({ _tag: "FailWrites", count: 1_000_000 })
      yield* Effect.forEach(numbers(20), (number) => cluster.add(keyOf(number), [1], { at: "a" }), {
        concurrency: 20,
        discard: true
      })
      const keys = yield* eventually(
        Effect.tap(walk(cluster, { at: "c", limit: 100 }), (found) =>
          Effect.sync(() => assert.deepStrictEqual(found, sortedKeys(20)))
        )
      )
      assert.lengthOf(keys, 20)
    })
  )

  it.live(
    "peer-B10: what a failing disk keeps from being looked at is not left out in silence",
    () =>
      Effect.gen(function* () {
        const { cluster, world } = yield* filled(["a"], 12)
        const write = (key: number) => Effect.ignore(cluster.add(keyOf(key), [1], { millis: 300 }))
        for (const round of numbers(30)) {
          yield* world.disks.a.apply({ _tag: "FailWrites", count: 6 })
          const writing = Effect.forEach(numbers(12), write, { concurrency: 12, discard: true })
          const searching = cluster.search({ limit: 100, withState: true })
          const [, { missing, records }] = yield* Effect.all([writing, searching], {
            concurrency: 2
          })
          const expected = missing.length === 0 ? sortedKeys(12) : []
          assert.deepStrictEqual(
            records.map(({ key }) => key),
            expected,
            `round ${round}`
          )
        }
        yield* world.disks.a.apply({ _tag: "FailWrites", count: 0 })
      })
  )

  it.live("peer-B10: nothing of a page is missing in silence while peers come and go", () =>
    Effect.gen(function* () {
      const { cluster } = yield* filled(["a", "b", "c"], 30)
      const restarts = Effect.gen(function* () {
        for (const name of ["b", "c"]) {
          yield* cluster.stop(name)
          yield* Effect.sleep(120)
          yield* cluster.start(name)
          yield* Effect.sleep(120)
        }
      })
      const searches = Effect.forEach(
        numbers(25),
        Effect.fnUntraced(function* () {
          const reply = yield* cluster.search({ at: "a", limit: 100 })
          const isMissing = (key: string) =>
            reply.missing.some(([from, to]) => from <= key && key <= to)
          assert.deepStrictEqual(
            reply.records.map(({ key }) => key),
            sortedKeys(30).filter((key) => !isMissing(key))
          )
          yield* Effect.sleep(20)
        }),
        { discard: true }
      )
      yield* Effect.all([restarts, searches], { concurrency: "unbounded" })
    })
  )

  it.live("equal searches under way share one answer; a peer that hangs is passed over", () =>
    Effect.gen(function* () {
      const { cluster, world } = yield* filled(["a", "b", "c", "d", "e"], 30)
      yield* eventually(walk(cluster, { at: "a", limit: 50 }))
      const localSearches = Effect.map(
        world.network.events,
        (events) =>
          events.filter(
            ({ kind, subject }) => kind === "request" && subject.endsWith(".search-local")
          ).length
      )
      const before = yield* localSearches
      const slow = { loss: 0, duplication: 0, delayMillis: [20, 20], reorder: 0 } as const
      yield* world.network.apply({ _tag: "Links", from: "a", to: null, faults: slow })
      const replies = yield* Effect.forEach(
        numbers(20),
        () => cluster.search({ at: "a", limit: 50 }),
        { concurrency: "unbounded" }
      )
      assert.isAtMost((yield* localSearches) - before, 15)
      for (const { records } of replies) assert.lengthOf(records, 30)
      yield* world.network.apply({ _tag: "Stall", node: "b" })
      assert.deepStrictEqual(yield* walk(cluster, { at: "a", limit: 50 }), sortedKeys(30))
      yield* world.network.apply({ _tag: "Resume", node: "b" })
    })
  )
})
