import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { PipelineError } from "./pipeline.ts"
import { makeWorld, pass, type TestWorker } from "./testing/world.ts"

const retryPolicy = (retries: number, exhausted: "halt" | "skip" | "dead-letter") => ({
  errorPolicy: {
    _tag: "Retry",
    schedule: { retries, initialMs: 1_000, factor: 2, maximumMs: 60_000 },
    exhausted
  }
})

const attemptsAt = (one: TestWorker, position: number) =>
  one.opened[0]!.offered.filter(({ record }) => record.position === BigInt(position)).map(
    ({ attempt }) => attempt
  )

const shardOf = Effect.fnUntraced(function* (one: TestWorker, name: string) {
  const { shards } = yield* one.worker.status
  return shards.find(({ shard }) => shard === name)!
})

describe("the error policy at work", () => {
  it.effect(
    "worker-C3, worker-D11: a failed record is tried again by the schedule; the others go on",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 3)
        const one = yield* world.start("w1", { config: retryPolicy(5, "halt") })
        yield* pass(1_500)
        const opened = one.opened[0]!
        opened.done(1, 3)
        opened.fail(2)
        yield* pass(900)
        assert.deepStrictEqual(attemptsAt(one, 2), [1])
        yield* pass(200)
        assert.deepStrictEqual(attemptsAt(one, 2), [1, 2])
        opened.fail(2)
        yield* pass(1_900)
        assert.deepStrictEqual(attemptsAt(one, 2), [1, 2])
        yield* pass(200)
        assert.deepStrictEqual(attemptsAt(one, 2), [1, 2, 3])
        assert.strictEqual(yield* world.position("orders"), 1n)
        opened.done(2)
        yield* pass(1_500)
        assert.strictEqual(yield* world.position("orders"), 3n)
        assert.deepInclude((yield* shardOf(one, "orders")).counters, { retries: 2, failures: 2 })
      })
  )

  it.effect("an outage uses up no attempt of a record that fails by itself later", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 1)
      const one = yield* world.start("w1", { config: retryPolicy(1, "halt") })
      yield* pass(1_500)
      const opened = one.opened[0]!
      for (const outage of [true, true, true, false]) {
        opened.fail(1, { outage })
        yield* pass(5_000)
      }
      assert.deepStrictEqual(attemptsAt(one, 1), [1, 2, 3, 4, 5])
      assert.strictEqual((yield* shardOf(one, "orders")).state, "running")
      opened.fail(1)
      yield* pass(5_000)
      assert.strictEqual((yield* shardOf(one, "orders")).state, "halted")
    })
  )

  it.effect(
    "worker-A11, worker-W20: after the last retry this shard halts, its siblings go on",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        for (const shard of ["bad", "good"]) yield* world.append(shard, 3)
        const one = yield* world.start("w1", { config: retryPolicy(0, "halt") })
        yield* pass(1_500)
        const opened = new Map(one.opened.map((each) => [each.options.shard, each]))
        opened.get("bad")!.done(1)
        opened.get("bad")!.fail(2)
        yield* world.append("good", 2)
        yield* world.append("bad", 2)
        yield* pass(1_500)
        opened.get("good")!.done(1, 2, 3, 4, 5)
        opened.get("bad")!.done(3)
        yield* pass(1_500)
        const bad = yield* shardOf(one, "bad")
        assert.strictEqual(bad.state, "halted")
        assert.match(bad.reason ?? "", /position 2 failed: no room/)
        assert.strictEqual(opened.get("bad")!.offered.length, 3)
        assert.strictEqual(bad.finishedAboveGap, 1)
        assert.strictEqual(yield* world.position("bad"), 1n)
        assert.strictEqual(yield* world.position("good"), 5n)
      })
  )

  it.effect(
    "worker-C5, worker-W19: skipped records make way and are counted, never silently done",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 2)
        const one = yield* world.start("w1", { config: retryPolicy(0, "skip") })
        yield* pass(1_500)
        one.opened[0]!.fail(1)
        one.opened[0]!.done(2)
        yield* pass(1_500)
        assert.strictEqual(yield* world.position("orders"), 2n)
        assert.deepInclude((yield* shardOf(one, "orders")).counters, { skipped: 1, finished: 2 })
      })
  )

  it.effect("worker-C5: a record that will not go through becomes a dead letter, once", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 3)
      const config = retryPolicy(1, "dead-letter")
      const one = yield* world.start("w1", { config, deadLetters: "dead" })
      yield* pass(1_500)
      one.opened[0]!.done(1, 3)
      one.opened[0]!.fail(2)
      yield* pass(1_200)
      yield* world.streams.apply({ _tag: "LoseAnswers", count: 1 })
      one.opened[0]!.fail(2)
      yield* pass(3_000)
      assert.strictEqual(yield* world.position("orders"), 3n)
      const letters = world.streams.byName.get("dead")?.records ?? []
      const headers = letters.map((letter) =>
        letter.headers.map((pair) => pair.map((part) => new TextDecoder().decode(part)).join(": "))
      )
      assert.deepStrictEqual(headers, [
        [
          "Holdfast-Shard: orders",
          "Holdfast-Position: 2",
          "Holdfast-Attempts: 2",
          "Holdfast-Reason: no room"
        ]
      ])
      const orders = one.opened.find(({ options }) => options.shard === "orders")
      assert.strictEqual(orders?.offered.length, 4)
      assert.strictEqual((yield* shardOf(one, "orders")).counters["deadLettered"], 1)
    })
  )

  it.effect("worker-C18: what runs out of attempts holds no checkpoint back", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 100)
      const config = retryPolicy(1, "dead-letter")
      const one = yield* world.start("w1", { config, deadLetters: "dead" })
      yield* pass(1_500)
      const orders = one.opened[0]!
      orders.done(...Array.from({ length: 99 }, (_, at) => at + 2))
      orders.fail(1)
      yield* pass(1_500)
      assert.isUndefined(yield* world.position("orders"))
      orders.fail(1)
      yield* pass(1_500)
      assert.strictEqual(yield* world.position("orders"), 100n)
      assert.strictEqual(world.streams.byName.get("dead")?.records.length, 1)
    })
  )

  it.effect("worker-C20: records that wait for a retry take their own room alone", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 20)
      const config = {
        ...retryPolicy(5, "halt"),
        limits: { records: 4, items: 100, bytes: 10_000, span: 100, partsPerRecord: 10 }
      }
      const one = yield* world.start("w1", { config })
      yield* pass(1_500)
      const orders = one.opened[0]!
      orders.fail(1)
      orders.fail(2)
      for (let position = 3; position <= 20; position++) {
        orders.done(position)
        yield* pass(50)
      }
      assert.strictEqual(orders.offered.filter(({ attempt }) => attempt === 1).length, 20)
      assert.deepStrictEqual(attemptsAt(one, 1), [1])
      yield* pass(500)
      orders.done(1, 2)
      yield* pass(1_500)
      assert.strictEqual(yield* world.position("orders"), 20n)
    })
  )

  it.effect("without a place for dead letters the shard halts instead of losing the record", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 1)
      const one = yield* world.start("w1", { config: retryPolicy(0, "dead-letter") })
      yield* pass(1_500)
      one.opened[0]!.fail(1)
      assert.match((yield* shardOf(one, "orders")).reason ?? "", /no dead letters: no room/)
    })
  )

  it.effect(
    "worker-C5: an outage exhausts nothing: it is tried again while it lasts, and reported",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 1)
        const schedule = { retries: 1, initialMs: 500, factor: 2, maximumMs: 1_000 }
        const errorPolicy = { _tag: "Retry", schedule, exhausted: "halt" }
        const one = yield* world.start("w1", { config: { errorPolicy } })
        yield* pass(1_500)
        for (let attempt = 1; attempt <= 9; attempt++) {
          one.opened[0]!.fail(1, { outage: true })
          yield* pass(1_100)
        }
        assert.deepStrictEqual(attemptsAt(one, 1), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
        const blocked = yield* shardOf(one, "orders")
        assert.strictEqual(blocked.state, "running")
        assert.match(blocked.reason ?? "", /1 records have failed and wait.*no room/)
        one.opened[0]!.done(1)
        yield* pass(1_500)
        assert.isUndefined((yield* shardOf(one, "orders")).reason)
        assert.strictEqual(yield* world.position("orders"), 1n)
      })
  )

  it.effect("a fatal failure is not tried again", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 1)
      const one = yield* world.start("w1", { config: retryPolicy(9, "halt") })
      yield* pass(1_500)
      one.opened[0]!.fail(1, { fatal: true })
      yield* pass(5_000)
      assert.deepStrictEqual(attemptsAt(one, 1), [1])
      assert.strictEqual((yield* shardOf(one, "orders")).state, "halted")
    })
  )

  it.effect("worker-W2, worker-W6: a wrong report halts the shard and finishes nothing", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("totals", 9)
      yield* world.append("strangers", 1)
      const one = yield* world.start("w1", { config: retryPolicy(9, "halt") })
      yield* pass(1_500)
      const opened = new Map(one.opened.map((each) => [each.options.shard, each]))
      const { offered, options } = opened.get("totals")!
      const { ordinal } = offered[0]!
      options.report([
        { _tag: "PartsDone", ordinal, total: 3, indexes: [0] },
        { _tag: "PartsDone", ordinal, total: 2, indexes: [1] }
      ])
      const stranger = offered[8]!.ordinal
      opened.get("strangers")!.options.report([{ _tag: "Done", ordinals: [stranger] }])
      assert.match((yield* shardOf(one, "strangers")).reason ?? "", /never given/)
      assert.match((yield* shardOf(one, "totals")).reason ?? "", /TotalMismatch/)
      assert.isUndefined(yield* world.position("totals"))
    })
  )

  it.effect("parts that failed are offered again alone", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 1)
      const one = yield* world.start("w1", { config: retryPolicy(2, "halt") })
      yield* pass(1_500)
      const { offered, options } = one.opened[0]!
      const { ordinal } = offered[0]!
      const part = { index: 2, total: 3 }
      options.report([
        { _tag: "Split", ordinal, total: 3 },
        { _tag: "PartsDone", ordinal, total: 3, indexes: [0] },
        { _tag: "Failed", ordinal, part, reason: "no room" }
      ])
      yield* pass(1_200)
      assert.deepStrictEqual(offered[1]?.onlyParts, [2])
      assert.strictEqual(offered[1]?.finishedParts?.count, 1)
      options.report([{ _tag: "PartsDone", ordinal, total: 3, indexes: [1, 2] }])
      yield* pass(1_200)
      assert.strictEqual(yield* world.position("orders"), 1n)
    })
  )
})

describe("what needs a person", () => {
  it.effect("a pipeline that cannot work halts the shard with its sentence", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 1)
      const openError = new PipelineError({ code: "invalid", message: "no archive of that name" })
      const one = yield* world.start("w1", { plan: { openError } })
      yield* pass(2_000)
      const shard = yield* shardOf(one, "orders")
      assert.deepInclude(shard, { state: "halted", reason: "no archive of that name" })
    })
  )

  it.effect("worker-A4: a damaged map is ignored, or halts the shard where that is asked for", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      for (const shard of ["x", "y"]) {
        yield* world.append(shard, 4)
        yield* world.saveAs({
          shard,
          checkpoint: {
            position: Option.some(2n),
            completionMap: Uint8Array.of(1, 2, 3),
            epoch: 0,
            owner: "w0"
          },
          expected: Option.none()
        })
      }
      const one = yield* world.start("w1", { plan: { isPrompt: true } })
      yield* pass(3_000)
      const first = one.opened.find(({ options }) => options.shard === "x")!
      assert.deepStrictEqual(Number(first.offered[0]!.record.position), 3)
      assert.strictEqual(yield* world.position("x"), 4n)
      yield* one.stop
      const strict = yield* makeWorld
      yield* strict.append("x", 4)
      const map = {
        position: Option.some(2n),
        completionMap: Uint8Array.of(1),
        epoch: 0,
        owner: "w0"
      }
      yield* strict.saveAs({ shard: "x", checkpoint: map, expected: Option.none() })
      const two = yield* strict.start("w1", { config: { damagedMap: "halt" } })
      yield* pass(3_000)
      assert.strictEqual((yield* shardOf(two, "x")).state, "halted")
      assert.strictEqual(yield* strict.position("x"), 2n)
    })
  )

  it.effect(
    "a checkpoint above the end of its source is another stream's: nothing is skipped",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 3)
        yield* world.saveAs({
          shard: "orders",
          checkpoint: {
            position: Option.some(50n),
            completionMap: new Uint8Array(0),
            epoch: 0,
            owner: "w0"
          },
          expected: Option.none()
        })
        const one = yield* world.start("w1", { plan: { isPrompt: true } })
        yield* pass(3_000)
        const shard = yield* shardOf(one, "orders")
        assert.strictEqual(shard.state, "halted")
        assert.match(shard.reason ?? "", /ends at position 3, below the checkpoint 50/)
      })
  )

  it.effect(
    "a stored checkpoint that cannot be read halts the shard instead of starting over",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 3)
        yield* world.saveAs({
          shard: "orders",
          checkpoint: {
            position: Option.none(),
            completionMap: new Uint8Array(0),
            epoch: 0,
            owner: ""
          },
          expected: Option.none()
        })
        yield* world.damageCheckpoint("orders")
        const one = yield* world.start("w1", { plan: { isPrompt: true } })
        yield* pass(3_000)
        assert.strictEqual((yield* shardOf(one, "orders")).state, "halted")
        assert.deepStrictEqual(one.opened, [])
      })
  )
})
