import { assert, describe, it } from "@effect/vitest"
import type { SourceRecord } from "@holdfast/records"
import { Effect } from "effect"
import { aggregateOf } from "../testing/aggregate.ts"
import { makeWorld, pass } from "../testing/world.ts"
import { recordStage, stagePipeline } from "./stage-pipeline.ts"
import { defaultStage, type StageAnswer, StageFailure, type StageItem } from "./stage.ts"

const retrying = (exhausted: "halt" | "skip", retries = 9) => ({
  errorPolicy: {
    _tag: "Retry",
    schedule: { retries, initialMs: 500, factor: 1, maximumMs: 500 },
    exhausted
  }
})

type Process = (item: StageItem<SourceRecord>) => StageAnswer

/** Runs ten records through a stage and answers the log, the position and the shard. */
const runStage = Effect.fnUntraced(function* (
  process: Process,
  options: {
    readonly stage?: Parameters<typeof recordStage>[1]
    readonly config?: Readonly<Record<string, unknown>>
    readonly milliseconds?: number
  } = {}
) {
  const world = yield* makeWorld
  yield* world.append("orders", 10)
  const pipeline = recordStage(process, options.stage)
  const one = yield* world.start("w1", { pipeline, config: options.config ?? retrying("halt") })
  yield* pass(options.milliseconds ?? 4_000)
  const { shards } = yield* one.worker.status
  return { position: yield* world.position("orders"), shard: shards[0]! }
})

const at = ({ record }: { readonly record: SourceRecord }): number => Number(record.position)

describe("a stage", () => {
  it.effect.each([
    { name: "a value", answer: () => undefined },
    { name: "a promise", answer: () => Promise.resolve() },
    { name: "an Effect", answer: () => Effect.sleep(100) }
  ])("takes a function that returns $name", ({ answer }) =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const { position } = yield* runStage((item) => {
        seen.push(at(item))
        return answer()
      })
      assert.strictEqual(position, 10n)
      assert.deepStrictEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    })
  )

  it.effect.each([
    {
      name: "throws",
      fail: () => {
        throw new Error("no")
      }
    },
    { name: "rejects", fail: () => Promise.reject(new Error("no")) },
    { name: "fails", fail: () => Effect.fail(new Error("no")) },
    { name: "dies", fail: () => Effect.die(new Error("no")) },
    { name: "interrupts itself", fail: () => Effect.interrupt }
  ])("worker-A16, worker-C17: a function that $name has failed, and is tried again", ({ fail }) =>
    Effect.gen(function* () {
      const attempts: Array<number> = []
      const { position, shard } = yield* runStage((item) => {
        if (at(item) !== 3) return undefined
        attempts.push(item.attempt)
        return item.attempt < 3 ? fail() : undefined
      })
      assert.deepStrictEqual(attempts, [1, 2, 3])
      assert.strictEqual(position, 10n)
      assert.strictEqual(shard.counters["failures"], 2)
    })
  )

  it.effect("what is said to be fatal is not tried again; an outage is, without counting", () =>
    Effect.gen(function* () {
      const attempts = { fatal: 0, outage: 0 }
      const { position } = yield* runStage(
        (item) => {
          if (at(item) === 3) {
            attempts.fatal += 1
            throw new StageFailure({ kind: "fatal", message: "it never will" })
          }
          if (at(item) !== 5) return undefined
          attempts.outage += 1
          const away = new StageFailure({ kind: "outage", message: "the other side is away" })
          return attempts.outage < 4 ? Effect.fail(away) : undefined
        },
        { config: retrying("skip", 1) }
      )
      assert.deepStrictEqual(attempts, { fatal: 1, outage: 4 })
      assert.strictEqual(position, 10n)
    })
  )

  it.effect("worker-A10: the checkpoint stays below what throws, and the shard says why", () =>
    Effect.gen(function* () {
      const { position, shard } = yield* runStage(
        (item) => {
          if (at(item) === 3) throw new Error("cannot parse")
        },
        { config: retrying("halt", 1) }
      )
      assert.strictEqual(position, 2n)
      assert.strictEqual(shard.state, "halted")
      assert.match(shard.reason ?? "", /position 3 failed: Error: cannot parse/)
    })
  )

  it.effect(
    "worker-W15: an item that is stuck holds up nothing else, and fails at its deadline",
    () =>
      Effect.gen(function* () {
        let attempts = 0
        const { position, shard } = yield* runStage(
          (item) => {
            if (at(item) !== 2) return undefined
            attempts += 1
            return attempts === 1 ? Effect.never : undefined
          },
          { stage: { deadline: "2 seconds" }, milliseconds: 1_900 }
        )
        assert.strictEqual(position, 1n)
        assert.strictEqual(shard.finishedAboveGap, 8)
        yield* pass(4_000)
        assert.strictEqual(attempts, 2)
      })
  )

  it.effect("by key: one at a time and in order, also where one fails; other keys go on", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const { position } = yield* runStage(
        (item) => {
          log.push(`${at(item)}.${item.attempt}`)
          return at(item) === 2 && item.attempt < 3 ? Promise.reject(new Error("no")) : undefined
        },
        {
          stage: {
            ordering: {
              _tag: "ByKey",
              keyOf: (_, { position: p }) => (p % 2n === 0n ? "even" : "odd")
            }
          }
        }
      )
      const even = log.filter((entry) => Number(entry.split(".")[0]) % 2 === 0)
      assert.deepStrictEqual(even, ["2.1", "2.2", "2.3", "4.1", "6.1", "8.1", "10.1"])
      assert.isBelow(log.indexOf("9.1"), log.indexOf("2.2"))
      assert.strictEqual(position, 10n)
    })
  )

  it.effect("by shard: what was laid aside no longer holds the others", () =>
    Effect.gen(function* () {
      const log: Array<number> = []
      const { position, shard } = yield* runStage(
        (item) => {
          log.push(at(item))
          if (at(item) === 2) throw new Error("no")
        },
        { stage: { ordering: { _tag: "ByShard" } }, config: retrying("skip", 1) }
      )
      assert.deepStrictEqual(log, [1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      assert.strictEqual(position, 10n)
      assert.strictEqual(shard.counters["skipped"], 1)
    })
  )

  it.effect(
    "worker-W4, worker-W16: records split into none, one or several items, each by itself",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        yield* world.append("orders", 4)
        const log: Array<string> = []
        const pipeline = stagePipeline<number>({
          ...defaultStage,
          extract: ({ position }) =>
            Array.from({ length: Number(position) - 1 }, (_, index) => index),
          process: ({ attempt, index, record, total }) => {
            log.push(`${record.position}:${index}/${total}`)
            if (record.position === 4n && index === 1 && attempt === 1) throw new Error("no")
          }
        })
        yield* world.start("w1", { pipeline, config: retrying("halt") })
        yield* pass(3_000)
        assert.deepStrictEqual(log, ["2:0/1", "3:0/2", "3:1/2", "4:0/3", "4:1/3", "4:2/3", "4:1/3"])
        assert.strictEqual(yield* world.position("orders"), 4n)
      })
  )

  it.effect(
    "worker-W33: a gathering function hears every beat and flush, and lets go in time",
    () =>
      Effect.gen(function* () {
        const gathered: Array<() => void> = []
        const letGo = (): void => gathered.splice(0).forEach((resolve) => resolve())
        const { position } = yield* runStage(
          () => new Promise<void>((resolve) => gathered.push(resolve)),
          { stage: { concurrency: 100, heartbeat: letGo } }
        )
        assert.strictEqual(position, 10n)
      })
  )

  it.effect("the backlog bounds what is queued", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 500)
      const pipeline = recordStage(() => Effect.never, { backlog: 10, concurrency: 2 })
      const one = yield* world.start("w1", { pipeline, config: { batchRecords: 20 } })
      yield* pass(3_000)
      assert.isAtMost((yield* one.worker.status).shards[0]!.inFlight.records, 60)
    })
  )
})

describe("a stage of user records", () => {
  const aggregated = (
    options: Parameters<typeof stagePipeline<string>>[0],
    more: ReturnType<typeof retrying> = retrying("halt")
  ) =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const data = aggregateOf(["k1", "a,b"], ["k2", ""], ["k1", "c"], ["k3", "d,e,f"])
      yield* world.appendData("orders", data)
      const pipeline = stagePipeline(options)
      const one = yield* world.start("w1", { pipeline, config: { ...more, aggregation: "kpl" } })
      yield* pass(4_000)
      const { shards } = yield* one.worker.status
      return { position: yield* world.position("orders"), shard: shards[0]! }
    })
  const extract = ({ data }: SourceRecord): ReadonlyArray<string> =>
    new TextDecoder().decode(data).split(",").filter(Boolean)

  it.effect("splits each of them by itself: none, one or several items", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const { position } = yield* aggregated({
        ...defaultStage,
        extract,
        process: ({ index, item, part, total }) => {
          log.push(`${part?.index}/${part?.total} ${index}/${total} ${item}`)
        }
      })
      assert.strictEqual(position, 1n)
      assert.deepStrictEqual(log, [
        "0/4 0/2 a",
        "0/4 1/2 b",
        "2/4 0/1 c",
        "3/4 0/3 d",
        "3/4 1/3 e",
        "3/4 2/3 f"
      ])
    })
  )

  it.effect.each([
    { name: "in no order", ordering: { _tag: "Unordered" } as const },
    { name: "by shard", ordering: { _tag: "ByShard" } as const }
  ])("tries again what failed of one of them, and nothing that was done, $name", ({ ordering }) =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const { position } = yield* aggregated({
        ...defaultStage,
        ordering,
        extract,
        process: ({ attempt, item }) => {
          log.push(item)
          if (attempt === 1 && (item === "d" || item === "f")) throw new Error("no")
        }
      })
      assert.strictEqual(position, 1n)
      assert.deepStrictEqual(log.filter((item) => item === "e").length, 1)
      assert.deepStrictEqual(log.filter((item) => item === "d").length, 2)
      if (ordering._tag === "ByShard") {
        assert.deepStrictEqual([...new Set(log)], ["a", "b", "c", "d", "e", "f"])
      }
    })
  )

  it.effect("goes on behind one that was laid aside", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const { position, shard } = yield* aggregated(
        {
          ...defaultStage,
          ordering: { _tag: "ByShard" },
          extract,
          process: ({ item }) => {
            log.push(item)
            if (item === "a" || item === "c") throw new Error("no")
          }
        },
        retrying("skip", 0)
      )
      assert.strictEqual(position, 1n)
      assert.strictEqual(shard.counters["skipped"], 2)
      assert.deepStrictEqual(log.slice(-3), ["d", "e", "f"])
    })
  )
})
