import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { PipelineError } from "./pipeline.ts"
import { recordStage } from "./stage/stage-pipeline.ts"
import { makeWorld, pass, type TestWorker } from "./testing/world.ts"

const positionsOf = (one: TestWorker, opening = 0) =>
  one.opened[opening]!.offered.map(({ record }) => Number(record.position))

const ownersOf = Effect.fnUntraced(function* (
  world: Effect.Success<typeof makeWorld>,
  ...shards: ReadonlyArray<string>
) {
  const owners: Array<string> = []
  for (const shard of shards) {
    const record = yield* world.lease(shard)
    owners.push(Option.getOrElse(record?.owner ?? Option.none(), () => "nobody"))
  }
  return owners
})

describe("takeover", () => {
  it.effect("a second worker takes over from one that crashed, behind its checkpoint and map", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 6)
      const one = yield* world.start("w1")
      yield* pass(2_000)
      one.opened[0]!.done(1, 2, 4, 5)
      yield* pass(2_000)
      one.freeze()
      const two = yield* world.start("w2", { plan: { isPrompt: true } })
      yield* pass(10_000)
      assert.deepStrictEqual(positionsOf(two), [3, 6])
      assert.strictEqual(two.opened[0]!.options.epoch, 2)
      assert.strictEqual(yield* world.position("orders"), 6n)
    })
  )

  it.effect("worker-D2, worker-W26: a stale worker that wakes up writes nothing", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 4)
      const one = yield* world.start("w1")
      yield* pass(2_000)
      one.freeze()
      const two = yield* world.start("w2")
      yield* pass(10_000)
      two.opened[0]!.done(1)
      yield* pass(2_000)
      const before = yield* world.load("orders")
      one.thaw()
      one.opened[0]!.done(1, 2, 3, 4)
      yield* pass(3_000)
      assert.deepStrictEqual(yield* world.load("orders"), before)
      assert.isTrue(one.opened[0]!.isClosed)
      assert.deepStrictEqual((yield* one.worker.status).shards, [])
      assert.deepStrictEqual(yield* ownersOf(world, "orders"), ["w2"])
    })
  )

  it.effect("worker-D7: what a stale worker reports late is not done for the new one", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 1)
      const one = yield* world.start("w1")
      yield* pass(2_000)
      one.freeze()
      const two = yield* world.start("w2")
      yield* pass(10_000)
      assert.deepStrictEqual(positionsOf(two), [1])
      one.thaw()
      one.opened[0]!.done(1)
      yield* pass(2_000)
      one.freeze()
      two.freeze()
      const three = yield* world.start("w3", { plan: { isPrompt: true } })
      yield* pass(10_000)
      assert.deepStrictEqual(positionsOf(three), [1])
      assert.strictEqual(yield* world.position("orders"), 1n)
    })
  )

  it.effect("worker-A7: what a pipeline only gathers belongs to nobody else's checkpoint", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 5)
      const gathers = recordStage(() => Effect.never, { concurrency: 100 })
      const one = yield* world.start("w1", { pipeline: gathers })
      yield* pass(3_000)
      assert.strictEqual((yield* one.worker.status).shards[0]!.inFlight.records, 5)
      one.freeze()
      const two = yield* world.start("w2", { plan: { isPrompt: true } })
      yield* pass(10_000)
      assert.deepStrictEqual(positionsOf(two), [1, 2, 3, 4, 5])
    })
  )

  it.effect("worker-C14: a handover of records that never finish ends at its deadline", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      for (const shard of ["a", "b"]) yield* world.append(shard, 3)
      const one = yield* world.start("w1")
      yield* pass(3_000)
      for (const opened of one.opened) opened.done(1)
      const two = yield* world.start("w2", { plan: { isPrompt: true } })
      yield* pass(15_000)
      assert.deepStrictEqual([...(yield* ownersOf(world, "a", "b"))].sort(), ["w1", "w2"])
      assert.deepStrictEqual(positionsOf(two), [2, 3])
      assert.strictEqual(yield* world.position(two.opened[0]!.options.shard), 3n)
    })
  )

  it.effect("worker-B5: whoever loses the compare-and-set stops at once", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 4)
      const one = yield* world.start("w1")
      yield* pass(2_000)
      const stored = Option.getOrThrow(yield* world.load("orders"))
      yield* world.saveAs({
        shard: "orders",
        checkpoint: { ...stored.checkpoint, epoch: 9, owner: "w9", position: Option.some(3n) },
        expected: Option.some(stored.revision)
      })
      one.opened[0]!.done(1)
      yield* pass(1_500)
      assert.isTrue(one.opened[0]!.isClosed)
      const after = yield* world.checkpoint("orders")
      assert.deepInclude(after, { epoch: 9, owner: "w9", position: Option.some(3n) })
    })
  )

  it.effect(
    "leases that were lost and started over go on above the epochs of the checkpoints",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 4)
        yield* world.saveAs({
          shard: "orders",
          checkpoint: {
            position: Option.some(1n),
            completionMap: new Uint8Array(0),
            epoch: 57,
            owner: "w0"
          },
          expected: Option.none()
        })
        const one = yield* world.start("w1", { plan: { isPrompt: true } })
        yield* pass(3_000)
        assert.deepStrictEqual(
          one.opened.map(({ options }) => options.epoch),
          [58]
        )
        assert.deepInclude(yield* world.checkpoint("orders"), {
          epoch: 58,
          position: Option.some(4n)
        })
        assert.strictEqual((yield* world.lease("orders"))?.epoch, 58)
      })
  )

  it.effect("worker-D1: a handover flushes first, and the next owner repeats nothing", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      for (const shard of ["a", "b"]) yield* world.append(shard, 3)
      const one = yield* world.start("w1", { plan: { finishesAtFlush: true } })
      yield* pass(3_000)
      assert.deepStrictEqual(yield* ownersOf(world, "a", "b"), ["w1", "w1"])
      const two = yield* world.start("w2", { plan: { isPrompt: true } })
      yield* pass(5_000)
      assert.deepStrictEqual([...(yield* ownersOf(world, "a", "b"))].sort(), ["w1", "w2"])
      assert.deepStrictEqual(positionsOf(two), [])
      const taken = two.opened[0]!.options.shard
      assert.strictEqual(yield* world.position(taken), 3n)
      assert.strictEqual((yield* one.worker.status).shards.length, 1)
    })
  )

  it.effect("worker-D8: a checkpoint whose answer was lost is our own, not a conflict", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 4)
      const one = yield* world.start("w1", { config: { leaseRenewalMs: 3_000 } })
      yield* pass(1_300)
      one.opened[0]!.done(1)
      yield* world.keyValue.apply({ _tag: "LoseAnswers", count: 1 })
      yield* pass(1_500)
      one.opened[0]!.done(2)
      yield* pass(4_000)
      assert.strictEqual(yield* world.position("orders"), 2n)
      const shard = (yield* one.worker.status).shards[0]!
      assert.strictEqual(shard.state, "running")
      assert.strictEqual(one.opened.length, 1)
    })
  )

  it.effect("a store that is away costs no record and no shard", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 4)
      const one = yield* world.start("w1", { plan: { isPrompt: true } })
      yield* pass(2_000)
      yield* world.keyValue.apply({ _tag: "Unavailable", count: 4 })
      yield* world.append("orders", 4)
      yield* pass(6_000)
      assert.strictEqual(yield* world.position("orders"), 8n)
      assert.deepStrictEqual(positionsOf(one), [1, 2, 3, 4, 5, 6, 7, 8])
    })
  )

  it.effect("a worker that cannot renew stops by itself before its term is over", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 4)
      const one = yield* world.start("w1")
      yield* pass(2_000)
      yield* world.keyValue.apply({ _tag: "Unavailable", count: 10_000 })
      yield* pass(4_500)
      assert.isTrue(one.opened[0]!.isClosed)
      assert.deepStrictEqual((yield* one.worker.status).shards, [])
      yield* world.keyValue.apply({ _tag: "Unavailable", count: 0 })
    })
  )

  it.effect("what the catalogue knows beyond the checkpoint is not offered again", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 6)
      const finished = [{ from: 1n, to: 4n }]
      const one = yield* world.start("w1", { plan: { isPrompt: true, finished } })
      yield* pass(3_000)
      assert.deepStrictEqual(positionsOf(one), [5, 6])
      assert.strictEqual(yield* world.position("orders"), 6n)
    })
  )

  it.effect("a pipeline that is away is opened again, from the checkpoint", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 3)
      const one = yield* world.start("w1")
      yield* pass(1_500)
      one.opened[0]!.done(1)
      yield* pass(1_500)
      one.plan.offerError = new PipelineError({ code: "unavailable", message: "no devices" })
      yield* world.append("orders", 1)
      yield* pass(1_000)
      one.plan.offerError = undefined
      one.plan.isPrompt = true
      yield* pass(5_000)
      assert.isTrue(one.opened[0]!.isClosed)
      assert.deepStrictEqual(positionsOf(one, one.opened.length - 1), [2, 3, 4])
      assert.strictEqual(yield* world.position("orders"), 4n)
    })
  )
})
