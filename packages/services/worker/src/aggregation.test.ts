import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { OfferedRecord } from "./pipeline.ts"
import { aggregateOf, emptyAggregate } from "./testing/aggregate.ts"
import { makeWorld, type OpenedPipeline, pass, type TestWorker } from "./testing/world.ts"

const decoder = new TextDecoder()
const nameOf = ({ part, record }: OfferedRecord): string => {
  const text = decoder.decode(record.data)
  return part === undefined ? text : `${part.index}/${part.total} ${text}`
}
const namesOf = (one: TestWorker, opening = 0) => one.opened[opening]!.offered.map(nameOf)

/** Reports user records by their texts. */
const report = (
  { offered, options }: OpenedPipeline,
  _tag: "PartsDone" | "Failed",
  ...texts: ReadonlyArray<string>
): void => {
  for (const text of texts) {
    const { ordinal, part } = offered.find(({ record }) => decoder.decode(record.data) === text)!
    const { index, total } = part!
    options.report([
      _tag === "PartsDone"
        ? { _tag, ordinal, total, indexes: [index] }
        : { _tag, ordinal, part: { index, total }, reason: "no room" }
    ])
  }
}

const kpl = { aggregation: "kpl" }
const retrying = (retries: number, exhausted: "halt" | "skip" | "dead-letter") => ({
  ...kpl,
  errorPolicy: {
    _tag: "Retry",
    schedule: { retries, initialMs: 500, factor: 1, maximumMs: 500 },
    exhausted
  }
})

const three = aggregateOf(["10", "a"], ["2", "b"], ["10", "c"])

const counters = (one: TestWorker) =>
  Effect.map(one.worker.status, ({ shards }) => shards[0]!.counters)

describe("aggregated messages", () => {
  it.effect("stay whole unless the worker is to open them", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", three)
      const one = yield* world.start("w1", { plan: { isPrompt: true } })
      yield* pass(2_000)
      assert.deepStrictEqual(one.opened[0]!.offered[0]!.record.data, three)
      assert.strictEqual(yield* world.position("orders"), 1n)
    })
  )

  it.effect("are handed on in user records, and checkpointed when the last of them is done", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", three, Uint8Array.of(120))
      const one = yield* world.start("w1", { config: kpl })
      yield* pass(1_500)
      assert.deepStrictEqual(namesOf(one), ["0/3 a", "1/3 b", "2/3 c", "x"])
      const { headers, position } = one.opened[0]!.offered[1]!.record
      assert.strictEqual(position, 1n)
      assert.deepStrictEqual(
        headers.map((pair) => pair.map((bytes) => decoder.decode(bytes))),
        [["Kinesis-Partition-Key", "2"]]
      )
      one.opened[0]!.done(2)
      report(one.opened[0]!, "PartsDone", "c", "a")
      yield* pass(1_500)
      assert.isUndefined(yield* world.position("orders"))
      assert.deepInclude((yield* one.worker.status).shards[0]!.inFlight, { records: 1, items: 1 })
      report(one.opened[0]!, "PartsDone", "b")
      yield* pass(1_500)
      assert.strictEqual(yield* world.position("orders"), 2n)
      assert.deepInclude(yield* counters(one), { aggregates: 1, userRecords: 3, partsFinished: 3 })
    })
  )

  it.effect(
    "worker-B3, worker-B8, worker-W10: after a crash go on at the parts that are missing",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.appendData("orders", three, three)
        const one = yield* world.start("w1", { config: kpl })
        yield* pass(1_500)
        report(one.opened[0]!, "PartsDone", "b", "c")
        yield* pass(1_500)
        report(one.opened[0]!, "PartsDone", "a")
        one.freeze()
        const two = yield* world.start("w2", { config: kpl })
        yield* pass(10_000)
        assert.deepStrictEqual(namesOf(two), ["0/3 a", "0/3 a", "1/3 b", "2/3 c"])
        report(two.opened[0]!, "PartsDone", "a")
        yield* pass(1_500)
        assert.strictEqual(yield* world.position("orders"), 1n)
      })
  )

  it.effect("worker-F9: of no user records are finished", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", emptyAggregate())
      const one = yield* world.start("w1", { config: kpl })
      yield* pass(2_500)
      assert.deepStrictEqual(one.opened[0]!.offered, [])
      assert.strictEqual(yield* world.position("orders"), 1n)
      assert.deepInclude(yield* counters(one), { aggregates: 1, userRecords: 0 })
    })
  )

  it.effect("worker-F5, worker-F7: that are damaged go on whole, and are counted", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const damaged = Uint8Array.from(three)
      damaged[9]! ^= 1
      yield* world.appendData("orders", damaged, Uint8Array.of(1), three)
      const one = yield* world.start("w1", { config: kpl })
      yield* pass(1_500)
      const { offered } = one.opened[0]!
      assert.deepStrictEqual(offered[0]!.record.data, damaged)
      assert.strictEqual(offered.length, 5)
      assert.deepInclude(yield* counters(one), { damagedAggregates: 1, aggregates: 1 })
    })
  )

  it.effect("worker-F4, worker-F11: keep their keys, and their place in the message", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", aggregateOf(["10", "a", "77"], ["2", "b"]))
      const one = yield* world.start("w1", { config: kpl })
      yield* pass(1_500)
      const seen = one.opened[0]!.offered.map(({ part, record }) => [
        part?.index,
        ...record.headers.map((pair) => pair.map((bytes) => decoder.decode(bytes)).join("="))
      ])
      assert.deepStrictEqual(seen, [
        [0, "Kinesis-Partition-Key=10", "Kinesis-Explicit-Hash-Key=77"],
        [1, "Kinesis-Partition-Key=2"]
      ])
    })
  )

  it.effect("worker-F14: are opened one level deep", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", aggregateOf(["k", three]))
      const one = yield* world.start("w1", { config: kpl })
      yield* pass(1_500)
      assert.deepStrictEqual(
        one.opened[0]!.offered.map(({ record }) => record.data),
        [three]
      )
    })
  )

  it.effect("of more user records than a record may have parts go on whole", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", three)
      const config = { ...kpl, limits: { partsPerRecord: 2 } }
      const one = yield* world.start("w1", { config })
      yield* pass(1_500)
      assert.deepStrictEqual(one.opened[0]!.offered[0]!.record.data, three)
      assert.deepInclude(yield* counters(one), { damagedAggregates: 1 })
    })
  )

  it.effect("worker-W12: count with their user records against the limit on items", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", three, three, three)
      const one = yield* world.start("w1", { config: { ...kpl, limits: { items: 7 } } })
      yield* pass(1_500)
      assert.strictEqual(one.opened[0]!.offered.length, 6)
      report(one.opened[0]!, "PartsDone", "a", "b")
      yield* pass(1_500)
      assert.strictEqual(one.opened[0]!.offered.length, 9)
    })
  )

  it.effect("halt a shard whose pipeline takes whole records alone", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", three)
      const one = yield* world.start("w1", { config: kpl, plan: { takesParts: false } })
      yield* pass(1_500)
      const [shard] = (yield* one.worker.status).shards
      assert.deepInclude(shard, { state: "halted" })
      assert.match(shard?.reason ?? "", /aggregation must be "none"/)
      assert.deepStrictEqual(one.opened[0]!.offered, [])
    })
  )
})

describe("a user record that fails", () => {
  it.effect("is offered again alone", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", three)
      const one = yield* world.start("w1", { config: retrying(2, "halt") })
      yield* pass(1_500)
      report(one.opened[0]!, "Failed", "b")
      yield* pass(1_000)
      assert.deepStrictEqual(namesOf(one), ["0/3 a", "1/3 b", "2/3 c", "1/3 b"])
      assert.strictEqual(one.opened[0]!.offered[3]!.attempt, 2)
      report(one.opened[0]!, "PartsDone", "a", "b", "c")
      yield* pass(1_500)
      assert.strictEqual(yield* world.position("orders"), 1n)
    })
  )

  it.effect("halts the shard with its place in the aggregate", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", three)
      const one = yield* world.start("w1", { config: retrying(0, "halt") })
      yield* pass(1_500)
      report(one.opened[0]!, "Failed", "b")
      const [shard] = (yield* one.worker.status).shards
      assert.match(shard?.reason ?? "", /part 1 of 3 of position 1 failed: no room/)
    })
  )

  it.effect("is skipped alone: its siblings must still be done", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", three)
      const one = yield* world.start("w1", { config: retrying(0, "skip") })
      yield* pass(1_500)
      report(one.opened[0]!, "Failed", "b")
      report(one.opened[0]!, "PartsDone", "a")
      yield* pass(1_500)
      assert.isUndefined(yield* world.position("orders"))
      report(one.opened[0]!, "PartsDone", "c")
      yield* pass(1_500)
      assert.strictEqual(yield* world.position("orders"), 1n)
      assert.deepInclude(yield* counters(one), { skipped: 1, finished: 1 })
    })
  )

  it.effect("becomes a dead letter of its own, with its place in the aggregate", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.appendData("orders", three)
      const config = retrying(0, "dead-letter")
      const one = yield* world.start("w1", { config, deadLetters: "dead" })
      yield* pass(1_500)
      const orders = one.opened.find(({ options }) => options.shard === "orders")!
      report(orders, "Failed", "b", "c")
      report(orders, "PartsDone", "a")
      yield* pass(1_500)
      assert.strictEqual(yield* world.position("orders"), 1n)
      const letters = world.streams.byName.get("dead")?.records ?? []
      const places = letters.map(({ data, headers }) => [
        decoder.decode(data),
        ...headers
          .map((pair) => pair.map((bytes) => decoder.decode(bytes)).join(": "))
          .filter((header) => /^Holdfast-(Part|Position)/.test(header))
      ])
      assert.deepStrictEqual(places, [
        ["b", "Holdfast-Position: 1", "Holdfast-Part: 1 of 3"],
        ["c", "Holdfast-Position: 1", "Holdfast-Part: 2 of 3"]
      ])
    })
  )
})
