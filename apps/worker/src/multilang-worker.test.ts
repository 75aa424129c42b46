import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { TestDaemon } from "../../../packages/adapters/multilang/src/testing/daemon.ts"
import { numbered, startChild } from "./testing/child.ts"

const checkpointsOf = ({ transcript }: TestDaemon): ReadonlyArray<string> =>
  transcript.filter((line) => line.startsWith('< {"action":"checkpoint"'))

/** Empty batches until something has come of them. */
const deliverUntil = (daemon: TestDaemon, condition: () => boolean) =>
  Effect.gen(function* () {
    for (let batch = 0; batch < 500 && !condition(); batch++) {
      yield* Effect.promise(() => daemon.deliver(0))
      yield* Effect.sleep("10 millis")
    }
    assert.isTrue(condition(), daemon.transcript.join("\n"))
  })
const storedAt = (daemon: TestDaemon, ...place: readonly [number, number]) =>
  deliverUntil(daemon, () => JSON.stringify(daemon.checkpoint) === JSON.stringify(place))

/** Long enough for what must not happen. */
const quiet = Effect.sleep("150 millis")
const promised = (work: () => Promise<void>) => Effect.promise(work)

describe("a child of a daemon", () => {
  it.live("worker-C11, worker-C12, worker-W29: checkpoints the last place when nothing comes", () =>
    Effect.gen(function* () {
      const records = [0, 1, 2].map((sub) => ({
        sequenceNumber: 100,
        subSequenceNumber: sub,
        data: String(sub)
      }))
      const child = yield* startChild({ records, isPrompt: true })
      yield* promised(() => child.daemon.deliver(3))
      yield* child.begun(3)
      yield* storedAt(child.daemon, 100, 2)
      assert.isUndefined(yield* child.close)
    })
  )

  it.live("worker-B3, worker-B8: goes on inside an aggregate that the daemon has opened", () =>
    Effect.gen(function* () {
      const records = [0, 1, 2, 3].map((sub) => ({
        sequenceNumber: 7,
        subSequenceNumber: sub,
        data: String(sub)
      }))
      const first = yield* startChild({ records })
      yield* promised(() => first.daemon.deliver(4))
      yield* first.begun(4)
      yield* first.finish("0", "1", "3")
      yield* storedAt(first.daemon, 7, 1)
      assert.isUndefined(yield* first.close)
      const checkpoint = [7, 1] as const
      const second = yield* startChild({ records, checkpoint, isPrompt: true })
      yield* promised(() => second.daemon.deliver(4))
      yield* second.begun(2)
      assert.deepStrictEqual(second.started, ["2", "3"])
      assert.isUndefined(yield* second.close)
    })
  )

  it.live("worker-A1: never checkpoints past what is not done", () =>
    Effect.gen(function* () {
      const child = yield* startChild({ records: numbered(5) })
      yield* promised(() => child.daemon.deliver(5))
      yield* child.begun(5)
      yield* child.finish("2", "3", "5")
      yield* quiet
      yield* promised(() => child.daemon.deliver(0))
      assert.deepStrictEqual(checkpointsOf(child.daemon), [])
      yield* child.finish("1")
      yield* storedAt(child.daemon, 30, 0)
      yield* child.close
    })
  )
})

describe("a shutdown that is requested", () => {
  it.live("worker-A9, worker-W25, worker-E5: checkpoints what is done, at its place", () =>
    Effect.gen(function* () {
      const child = yield* startChild({ records: numbered(10) })
      yield* promised(() => child.daemon.deliver(10))
      yield* child.begun(10)
      yield* child.finish("1", "2", "3", "4", "6")
      yield* promised(() => child.daemon.shutdownRequested())
      assert.deepStrictEqual(child.daemon.checkpoint, [40, 0])
      assert.deepStrictEqual(checkpointsOf(child.daemon), [
        '< {"action":"checkpoint","sequenceNumber":"40","subSequenceNumber":0}'
      ])
      yield* promised(() => child.daemon.leaseLost())
      assert.isUndefined(yield* child.close)
    })
  )

  it.live("waits for what is in flight", () =>
    Effect.gen(function* () {
      const child = yield* startChild({
        records: numbered(3),
        settings: { drainDeadlineMs: 20_000 }
      })
      yield* promised(() => child.daemon.deliver(3))
      yield* child.begun(3)
      const requested = child.daemon.shutdownRequested()
      yield* quiet
      yield* child.finish("3", "2", "1")
      yield* promised(() => requested)
      assert.deepStrictEqual(child.daemon.checkpoint, [30, 0])
      yield* child.close
    })
  )
})

describe("the end of a shard", () => {
  it.live("worker-A13, worker-W9: is answered when everything is done, and stored once", () =>
    Effect.gen(function* () {
      const child = yield* startChild({ records: numbered(3) })
      yield* promised(() => child.daemon.deliver(3))
      const ended = child.daemon.shardEnded()
      yield* child.begun(3)
      yield* quiet
      assert.notInclude(child.daemon.transcript.join("\n"), '"responseFor":"shardEnded"')
      yield* child.finish("3", "1", "2")
      yield* promised(() => ended)
      assert.strictEqual(child.daemon.checkpoint, "SHARD_END")
      assert.deepStrictEqual(checkpointsOf(child.daemon), [
        '< {"action":"checkpoint","sequenceNumber":null,"subSequenceNumber":null}'
      ])
      assert.isUndefined(yield* child.close)
    })
  )

  it.live(
    "worker-C25, worker-W30: is stored when nothing came, or all was checkpointed before",
    () =>
      Effect.gen(function* () {
        const empty = yield* startChild({ records: [] })
        yield* promised(() => empty.daemon.shardEnded())
        assert.strictEqual(empty.daemon.checkpoint, "SHARD_END")
        yield* empty.close
        const idle = yield* startChild({ records: numbered(2), isPrompt: true })
        yield* promised(() => idle.daemon.deliver(2))
        yield* idle.begun(2)
        yield* storedAt(idle.daemon, 20, 0)
        yield* promised(() => idle.daemon.shardEnded())
        assert.strictEqual(idle.daemon.checkpoint, "SHARD_END")
        yield* idle.close
      })
  )

  it.live("survives a store that is busy", () =>
    Effect.gen(function* () {
      const errors = ["ThrottlingException", "KinesisClientLibDependencyException"]
      const child = yield* startChild({ records: [], errors })
      yield* promised(() => child.daemon.shardEnded())
      assert.strictEqual(child.daemon.checkpoint, "SHARD_END")
      assert.strictEqual(checkpointsOf(child.daemon).length, 3)
      yield* child.close
    })
  )
})

describe("a lease that is lost", () => {
  it.live(
    "worker-D2, worker-W26, worker-W27: stops the shard, and nothing is written any more",
    () =>
      Effect.gen(function* () {
        const child = yield* startChild({ records: numbered(3) })
        yield* promised(() => child.daemon.deliver(3))
        yield* child.begun(3)
        yield* promised(() => child.daemon.leaseLost())
        yield* child.finish("1", "2", "3")
        yield* quiet
        assert.deepStrictEqual(checkpointsOf(child.daemon), [])
        assert.isUndefined(yield* child.close)
        assert.isUndefined(child.daemon.checkpoint)
      })
  )

  it.live("worker-D3, worker-D4: found out by a checkpoint ends the shard, without a retry", () =>
    Effect.gen(function* () {
      const child = yield* startChild({
        records: numbered(6),
        isPrompt: true,
        errors: ["ShutdownException"]
      })
      yield* promised(() => child.daemon.deliver(3))
      yield* child.begun(3)
      yield* deliverUntil(child.daemon, () => checkpointsOf(child.daemon).length > 0)
      yield* promised(() => child.daemon.deliver(3))
      yield* quiet
      assert.strictEqual(checkpointsOf(child.daemon).length, 1)
      assert.deepStrictEqual(child.started, ["1", "2", "3"])
      yield* promised(() => child.daemon.leaseLost())
      assert.isUndefined(yield* child.close)
    })
  )
})

describe("a checkpoint", () => {
  it.live("is asked for again while the store is busy, and goes on", () =>
    Effect.gen(function* () {
      const errors = ["ThrottlingException", "ThrottlingException"]
      const child = yield* startChild({ records: numbered(2), isPrompt: true, errors })
      yield* promised(() => child.daemon.deliver(2))
      yield* child.begun(2)
      yield* storedAt(child.daemon, 20, 0)
      assert.strictEqual(checkpointsOf(child.daemon).length, 3)
      yield* child.close
    })
  )

  it.live("that the daemon takes for wrong is not asked for again; later ones are", () =>
    Effect.gen(function* () {
      const errors = ["IllegalArgumentException"]
      const child = yield* startChild({ records: numbered(2), isPrompt: true, errors })
      yield* promised(() => child.daemon.deliver(1))
      yield* child.begun(1)
      yield* deliverUntil(child.daemon, () => checkpointsOf(child.daemon).length > 0)
      for (let empty = 0; empty < 5; empty++) {
        yield* Effect.sleep("40 millis")
        yield* promised(() => child.daemon.deliver(0))
      }
      assert.strictEqual(checkpointsOf(child.daemon).length, 1)
      yield* promised(() => child.daemon.deliver(1))
      yield* child.begun(2)
      yield* storedAt(child.daemon, 20, 0)
      yield* child.close
    })
  )
})

describe("the end of a child", () => {
  it.live("worker-E6: comes with the end of its input, in the middle of a batch too", () =>
    Effect.gen(function* () {
      const child = yield* startChild({ records: numbered(3) })
      yield* promised(() => child.daemon.deliver(3))
      yield* child.begun(3)
      yield* child.finish("1")
      assert.isUndefined(yield* child.close)
      assert.deepStrictEqual(checkpointsOf(child.daemon), [])
    })
  )

  it.live("worker-E4: by a signal waits for what is in flight no longer than it may", () =>
    Effect.gen(function* () {
      const child = yield* startChild({ records: numbered(5) })
      yield* promised(() => child.daemon.deliver(5))
      yield* child.begun(5)
      yield* child.finish("1", "2")
      yield* Fiber.interrupt(child.fiber)
      assert.deepStrictEqual(checkpointsOf(child.daemon), [])
      assert.deepStrictEqual(child.daemon.stray, [])
    })
  )

  it.live("worker-D13: is a sentence when the daemon says what it must not", () =>
    Effect.gen(function* () {
      const child = yield* startChild({ records: numbered(1) })
      child.daemon.say('{"action":"checkpoint","sequenceNumber":"10","error":null}')
      assert.match(
        (yield* child.ended) ?? "",
        /a reply came to a checkpoint that was not asked for/
      )
    })
  )
})

describe("an old daemon", () => {
  it.live("is answered in its own words: checkpoints, a lost lease, the end of a shard", () =>
    Effect.gen(function* () {
      const child = yield* startChild({ records: numbered(2), dialect: "V1", isPrompt: true })
      yield* promised(() => child.daemon.deliver(2))
      yield* child.begun(2)
      yield* storedAt(child.daemon, 20, 0)
      yield* promised(() => child.daemon.shardEnded())
      assert.strictEqual(child.daemon.checkpoint, "SHARD_END")
      const said = child.daemon.transcript.filter((line) => line.startsWith("<"))
      assert.deepStrictEqual(
        said.filter((line) => !line.includes("processRecords")),
        [
          '< {"action":"status","responseFor":"initialize"}',
          '< {"action":"checkpoint","checkpoint":"20"}',
          '< {"action":"checkpoint","checkpoint":null}',
          '< {"action":"status","responseFor":"shutdown"}'
        ]
      )
      yield* child.close
      const lost = yield* startChild({ records: numbered(2), dialect: "V1" })
      yield* promised(() => lost.daemon.deliver(2))
      yield* promised(() => lost.daemon.leaseLost())
      assert.isUndefined(yield* lost.close)
    })
  )
})
