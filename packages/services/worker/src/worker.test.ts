import { assert, describe, it } from "@effect/vitest"
import { makeCaller, WorkerOperations } from "@holdfast/wire"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { Effect, Fiber, Option } from "effect"
import { makeWorld, pass } from "./testing/world.ts"

const positionsOf = (offered: ReadonlyArray<{ readonly record: { readonly position: bigint } }>) =>
  offered.map(({ record }) => Number(record.position))

describe("a worker", () => {
  it.effect("archives what its source holds and checkpoints it", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 5)
      const one = yield* world.start("w1", { plan: { isPrompt: true } })
      yield* pass(3_000)
      assert.deepStrictEqual(positionsOf(one.opened[0]!.offered), [1, 2, 3, 4, 5])
      assert.strictEqual(yield* world.position("orders"), 5n)
      assert.strictEqual(yield* world.streams.acknowledged("orders"), 5n)
    })
  )

  it.effect("worker-A1: no checkpoint passes an unfinished record, whatever the timer says", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 5)
      const one = yield* world.start("w1")
      yield* pass(2_000)
      one.opened[0]!.done(1, 2, 4, 5)
      yield* pass(5_000)
      assert.strictEqual(yield* world.position("orders"), 2n)
      const { shards } = yield* one.worker.status
      assert.strictEqual(shards[0]!.finishedAboveGap, 2)
      assert.strictEqual(shards[0]!.oldestUnfinished?.position, 3n)
    })
  )

  it.effect("worker-C10: on an idle stream it goes on beating, flushing and checkpointing", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 3)
      const one = yield* world.start("w1")
      yield* pass(10_000)
      const opened = one.opened[0]!
      assert.isAtLeast(opened.heartbeats, 10)
      assert.include(opened.flushes, "partial")
      opened.done(1, 2, 3)
      yield* pass(2_000)
      assert.strictEqual(yield* world.position("orders"), 3n)
    })
  )

  it.effect("worker-C13: each of several shards is checkpointed in its own interval", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const names = ["a", "b", "c", "d"]
      for (const name of names) yield* world.append(name, 2)
      yield* world.start("w1", { plan: { isPrompt: true } })
      yield* pass(3_000)
      for (const name of names) assert.strictEqual(yield* world.position(name), 2n)
    })
  )

  it.effect("worker-A12: at a limit the intake stops, and goes on when one record finishes", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const limits = { records: 3, items: 100, bytes: 10_000, span: 100, partsPerRecord: 10 }
      yield* world.append("orders", 50)
      const one = yield* world.start("w1", { config: { limits } })
      yield* pass(5_000)
      const opened = one.opened[0]!
      assert.deepStrictEqual(positionsOf(opened.offered), [1, 2, 3])
      assert.include(opened.flushes, "full")
      opened.done(2)
      yield* pass(500)
      assert.deepStrictEqual(positionsOf(opened.offered), [1, 2, 3, 4])
      assert.strictEqual((yield* one.worker.status).shards[0]!.inFlight.records, 3)
    })
  )

  it.effect("deleted records are passed, and counted as gaps", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 6)
      for (const position of [2n, 3n, 6n]) {
        yield* world.streams.apply({ _tag: "Remove", stream: "orders", position })
      }
      const one = yield* world.start("w1", { plan: { isPrompt: true } })
      yield* pass(3_000)
      assert.deepStrictEqual(positionsOf(one.opened[0]!.offered), [1, 4, 5])
      assert.strictEqual(yield* world.position("orders"), 6n)
      assert.strictEqual((yield* one.worker.status).shards[0]!.counters["sourceGaps"], 2)
    })
  )

  it.effect("worker-C21: a source that is away for a while is read on, none skipped", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 2)
      const one = yield* world.start("w1", { plan: { isPrompt: true } })
      yield* pass(2_000)
      yield* world.streams.apply({ _tag: "Unavailable", count: 6 })
      yield* world.append("orders", 2)
      yield* pass(10_000)
      assert.deepStrictEqual(positionsOf(one.opened[0]!.offered), [1, 2, 3, 4])
      assert.strictEqual(yield* world.position("orders"), 4n)
      assert.isAtLeast((yield* one.worker.status).shards[0]!.counters["sourceErrors"]!, 1)
    })
  )

  it.effect("a new stream is picked up", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const one = yield* world.start("w1", { plan: { isPrompt: true } })
      yield* pass(2_000)
      yield* world.append("late", 2)
      yield* pass(4_000)
      assert.strictEqual(yield* world.position("late"), 2n)
      assert.strictEqual(one.opened[0]!.options.stream, "late")
    })
  )

  it.effect("answers its status over the wire, with requested and confirmed apart", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 3)
      const one = yield* world.start("w1")
      yield* pass(2_000)
      one.opened[0]!.done(1)
      yield* pass(1_500)
      const call = makeCaller(WorkerOperations.workerStatus)
      const client = MemoryNetwork.layer(world.network, "client")
      const options = { cluster: "c1", request: {}, deadline: "1 second", requestId: "r1" } as const
      const { response } = yield* call({ ...options, instance: "w1" }).pipe(Effect.provide(client))
      const shard = response.shards[0]!
      assert.strictEqual(shard.state, "running")
      assert.deepStrictEqual(
        [shard.checkpoint, shard.read, shard.newest, shard.inFlight.records],
        [1n, 3n, 3n, 2]
      )
      assert.strictEqual(shard.oldestUnfinished?.position, 2n)
      assert.deepInclude(shard.counters, {
        checkpointsRequested: 1,
        checkpointsConfirmed: 1,
        admitted: 3,
        finished: 1
      })
      assert.deepInclude(response.leases[0]!, { shard: "orders", owner: "w1", epoch: 1 })
    })
  )

  it.effect(
    "worker-C4: a record that never finishes is named, and nothing stops by the alarm",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 2)
        const one = yield* world.start("w1", { config: { stallAlarmMs: 2_000 } })
        yield* pass(6_000)
        const stalled = (yield* one.worker.status).shards[0]!
        assert.match(stalled.reason ?? "", /nothing has moved.*position 1/)
        assert.strictEqual(stalled.state, "running")
        one.opened[0]!.done(1, 2)
        yield* pass(2_000)
        assert.isUndefined((yield* one.worker.status).shards[0]!.reason)
      })
  )
})

describe("shutdown", () => {
  it.effect(
    "worker-E4, worker-W25: what is in flight finishes, is checkpointed, and released",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 5)
        const one = yield* world.start("w1", { plan: { finishesAtFlush: true } })
        yield* pass(2_000)
        const stopping = yield* Effect.forkChild(one.stop)
        yield* pass(1_000)
        yield* Fiber.join(stopping)
        assert.strictEqual(yield* world.position("orders"), 5n)
        assert.deepStrictEqual((yield* world.lease("orders"))?.owner, Option.none())
        assert.isTrue(one.opened[0]!.isClosed)
      })
  )

  it.effect("worker-A2, worker-D6: past the deadline the finished prefix is checkpointed", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 3)
      const one = yield* world.start("w1")
      yield* pass(2_000)
      one.opened[0]!.done(1, 2)
      const stopping = yield* Effect.forkChild(one.stop)
      yield* pass(6_000)
      yield* Fiber.join(stopping)
      assert.strictEqual(yield* world.position("orders"), 2n)
      const two = yield* world.start("w2", { plan: { isPrompt: true } })
      yield* pass(2_000)
      assert.deepStrictEqual(positionsOf(two.opened[0]!.offered), [3])
    })
  )

  it.effect("a shard that waits to be opened is let go at once when the worker stops", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 1)
      const one = yield* world.start("w1", { plan: { hangsAtOpen: true } })
      yield* pass(2_000)
      const stopping = yield* Effect.forkChild(one.stop)
      yield* pass(100)
      assert.isDefined(stopping.pollUnsafe())
      assert.deepStrictEqual((yield* world.lease("orders"))?.owner, Option.none())
    })
  )

  it.effect("worker-E3, worker-E8: nothing that arrives after the stop began is taken", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 2)
      const one = yield* world.start("w1")
      yield* pass(2_000)
      const stopping = yield* Effect.forkChild(one.stop)
      yield* pass(100)
      yield* world.append("orders", 3)
      yield* pass(300)
      one.opened[0]!.done(1, 2)
      yield* pass(200)
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(positionsOf(one.opened[0]!.offered), [1, 2])
      assert.strictEqual(yield* world.position("orders"), 2n)
    })
  )
})
