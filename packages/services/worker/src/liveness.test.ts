import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { recordStage } from "./stage/stage-pipeline.ts"
import { makeWorld, pass } from "./testing/world.ts"

const shardOf = (one: { readonly worker: { readonly status: Effect.Effect<StatusView> } }) =>
  Effect.map(one.worker.status, ({ shards }) => shards[0]!)
interface StatusView {
  readonly shards: ReadonlyArray<{
    readonly counters: Readonly<Record<string, number>>
    readonly reason?: string
  }>
}

describe("what takes long", () => {
  it.effect("worker-C8: is no stall while anything moves, however long the last one waits", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 10)
      const pipeline = recordStage(() => Effect.sleep("8 seconds"), {
        ordering: { _tag: "ByShard" }
      })
      const one = yield* world.start("w1", { pipeline, config: { stallAlarmMs: 12_000 } })
      yield* pass(84_000)
      assert.strictEqual((yield* shardOf(one)).counters["stalls"], 0)
      assert.strictEqual(yield* world.position("orders"), 10n)
    })
  )

  it.effect("worker-W22: a full flush that moves on raises no alarm, and ends with the last", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 5)
      const config = { stallAlarmMs: 3_000, drainDeadlineMs: 60_000 }
      const one = yield* world.start("w1", { config })
      yield* pass(1_500)
      const draining = yield* Effect.forkChild(one.worker.drain)
      for (const position of [1, 2, 3, 4]) {
        yield* pass(2_000)
        one.opened[0]!.done(position)
      }
      assert.deepInclude((yield* shardOf(one)).counters, { stalls: 0, finished: 4 })
      one.opened[0]!.done(5)
      yield* Fiber.join(draining)
      assert.strictEqual(yield* world.position("orders"), 5n)
    })
  )

  it.effect("worker-W14: a full flush ends with the last report, without a tick of the clock", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 2)
      const one = yield* world.start("w1")
      yield* pass(1_500)
      const draining = yield* Effect.forkChild(one.worker.drain)
      yield* pass(1_000)
      assert.isUndefined(draining.pollUnsafe())
      one.opened[0]!.done(1, 2)
      // No time passes from here: whatever slept would sleep for ever.
      yield* Fiber.join(draining)
      assert.strictEqual(yield* world.position("orders"), 2n)
    })
  )

  it.effect(
    "worker-W28: a checkpoint that the store has not taken is requested, not confirmed",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 2)
        const one = yield* world.start("w1", { config: { leaseTermMs: 60_000 } })
        yield* pass(1_500)
        one.opened[0]!.done(1, 2)
        yield* world.keyValue.apply({ _tag: "Unavailable", count: 1_000 })
        yield* pass(2_000)
        const { checkpointsConfirmed: before = -1, checkpointsRequested: requested = 0 } =
          (yield* shardOf(one)).counters
        assert.isAbove(requested, 0)
        assert.strictEqual(before, 0)
        yield* world.keyValue.apply({ _tag: "Unavailable", count: 0 })
        yield* pass(2_000)
        assert.strictEqual((yield* shardOf(one)).counters["checkpointsConfirmed"], 1)
        assert.strictEqual(yield* world.position("orders"), 2n)
      })
  )

  it.effect(
    "says how long checkpoints take from their request, and flushes to what they await",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 2)
        const config = { leaseTermMs: 60_000, flushIntervalMs: 100_000 }
        const one = yield* world.start("w1", { config })
        yield* pass(1_500)
        one.opened[0]!.done(1)
        one.freeze()
        while (((yield* shardOf(one)).counters["checkpointsRequested"] ?? 0) === 0) yield* pass(50)
        yield* pass(400)
        one.thaw()
        yield* pass(200)
        const { latencies } = (yield* one.worker.status).shards[0]!
        const { count, lastMs = 0 } = latencies?.checkpoint ?? { count: 0 }
        assert.strictEqual(count, 1)
        assert.isAtLeast(lastMs, 400)
        assert.isBelow(lastMs, 600)
        assert.strictEqual(latencies?.flush.count, 0)
      })
  )
})

describe("a shard that halts", () => {
  it.effect("says so in the log, once", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    return Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 2)
      const one = yield* world.start("w1", { config: { errorPolicy: { _tag: "HaltAtOnce" } } })
      yield* pass(1_500)
      one.opened[0]!.fail(1)
      one.opened[0]!.fail(2)
      yield* pass(1_500)
      assert.deepStrictEqual(
        lines.filter((line) => line.includes("halted")),
        ["orders is halted: position 1 failed: no room"]
      )
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})
