import { assert, describe, it } from "@effect/vitest"
import type { SourceRecord } from "@holdfast/records"
import { Effect, Exit, Fiber, References, Scope } from "effect"
import { useNatsServer } from "./testing/server-layer.ts"
import {
  bounds,
  makeStreamBench,
  manage,
  numbered,
  numbers,
  positions,
  readRecords
} from "./testing/stream-bench.ts"

const { server } = useNatsServer()
const quiet = Effect.provideService(References.MinimumLogLevel, "None")
const consumer = "archive"

/** A stream, and what the server says of its consumer. */
const makeBench = Effect.gen(function* () {
  const bench = yield* makeStreamBench(server)
  const manager = yield* manage(bench.connection)
  const info = Effect.promise(() => manager.consumers.info(bench.stream, consumer))
  return { ...bench, info }
})

describe("a durable consumer", () => {
  it.live("shows what is acknowledged as its floor, and what is under way as pending", () =>
    Effect.gen(function* () {
      const { info, open, publish, stream } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 100))
      const reader = yield* open(undefined, { consumer })
      yield* readRecords(reader, 100)
      assert.deepInclude(yield* info, { num_ack_pending: 100 })
      yield* reader.acknowledge(40n)
      const { ack_floor, num_ack_pending } = yield* info
      assert.deepStrictEqual([ack_floor.stream_seq, num_ack_pending], [40, 60])
      yield* reader.acknowledge(10n)
      assert.strictEqual((yield* info).ack_floor.stream_seq, 40)
      yield* reader.acknowledge(100n)
      assert.strictEqual((yield* info).num_ack_pending, 0)
    })
  )

  it.live("worker-D8: begins where the checkpoint says, whatever its floor was", () =>
    Effect.gen(function* () {
      const { info, open, publish, stream } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 50))
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const reader = yield* open(undefined, { consumer })
          const records = yield* readRecords(reader, 50)
          yield* reader.acknowledge(30n)
          return records
        })
      )
      // Behind the floor, where a checkpoint was set back, and beyond it, where one ack was lost.
      for (const after of [5n, 42n]) {
        const records = yield* Effect.scoped(
          Effect.flatMap(open(after, { consumer }), (reader) =>
            readRecords(reader, 50 - Number(after))
          )
        )
        assert.deepStrictEqual(records, first.slice(Number(after)))
      }
      assert.strictEqual((yield* info).config.opt_start_seq, 43)
    })
  )

  it.live("keeps every delivery alive that is not acknowledged, not the newest alone", () =>
    Effect.gen(function* () {
      const { info, open, publish, stream } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 20))
      const reader = yield* open(undefined, { consumer, ackWait: "600 millis" })
      yield* readRecords(reader, 20)
      yield* Effect.sleep("2 seconds")
      assert.deepInclude(yield* info, { num_ack_pending: 20, num_redelivered: 0 })
      assert.deepStrictEqual((yield* reader.next(bounds)).records, [])
    })
  )

  it.live("waits at the limit of what may be unacknowledged, and goes on below it", () =>
    Effect.gen(function* () {
      const { open, publish, stream } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 30))
      const reader = yield* open(undefined, { consumer, ackPendingMax: 10 })
      assert.deepStrictEqual(positions(yield* readRecords(reader, 10)), numbers(1, 10))
      // Long enough for several heartbeats: a server that waits is not one that is silent.
      yield* Effect.sleep("1500 millis")
      assert.deepStrictEqual((yield* reader.next(bounds)).records, [])
      yield* reader.acknowledge(4n)
      assert.deepStrictEqual(positions(yield* readRecords(reader, 4)), numbers(11, 14))
      yield* reader.acknowledge(14n)
      assert.deepStrictEqual(positions(yield* readRecords(reader, 10)), numbers(15, 24))
    })
  )

  it.live("worker-C21, worker-D8: through kills of the server, each record once and in order", () =>
    Effect.gen(function* () {
      const { info, open, publish, stream } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 10_000))
      const reader = yield* open(undefined, { consumer, windowRecords: 1_000, ackWait: "1 second" })
      const records: Array<SourceRecord> = []
      const reading = yield* Effect.gen(function* () {
        while (records.length < 10_000) {
          const batch = yield* reader.next({ ...bounds, maxRecords: 250 })
          assert.deepStrictEqual(batch.gaps, [])
          records.push(...batch.records)
          const done = records.at(-101)
          // An acknowledgement that is lost to the kill is made good by the next one.
          if (done !== undefined) yield* Effect.ignore(reader.acknowledge(done.position))
          yield* Effect.sleep("5 millis")
        }
      }).pipe(Effect.timeout("40 seconds"), Effect.forkChild)
      for (const mark of [1_000, 4_000, 8_000]) {
        while (records.length < mark) yield* Effect.sleep("1 millis")
        yield* Effect.promise(() => server().kill())
        yield* Effect.promise(() => server().start())
      }
      yield* Fiber.join(reading)
      assert.deepStrictEqual(positions(records), numbers(1, 10_000))
      yield* reader.acknowledge(10_000n)
      assert.strictEqual((yield* info).ack_floor.stream_seq, 10_000)
    }).pipe(quiet)
  )

  it.live(
    "worker-D7: is taken over by whoever opens the shard; the other one ends and stays ended",
    () =>
      Effect.gen(function* () {
        const { info, open, publish, stream } = yield* makeBench
        yield* publish(numbered(`${stream}.a`, 10))
        const stale = yield* Scope.make()
        const first = yield* open(undefined, { consumer }).pipe(Scope.provide(stale))
        yield* readRecords(first, 10)
        const second = yield* open(4n, { consumer })
        assert.deepStrictEqual(positions(yield* readRecords(second, 6)), numbers(5, 10))
        const ended = yield* Effect.flip(
          Effect.forever(Effect.andThen(first.next(bounds), Effect.sleep("10 millis")))
        ).pipe(Effect.timeout("10 seconds"))
        assert.match(ended.message, /another reader has taken the consumer archive/)
        assert.strictEqual(ended.code, "unavailable")
        yield* publish(numbered(`${stream}.a`, 5, 11))
        assert.deepStrictEqual(positions(yield* readRecords(second, 5)), numbers(11, 15))
        // What the stale one would say late is not said.
        yield* first.acknowledge(10n)
        yield* Scope.close(stale, Exit.void)
        assert.deepInclude(yield* info, { num_ack_pending: 11 })
        yield* second.acknowledge(7n)
        const { ack_floor, num_ack_pending } = yield* info
        assert.deepStrictEqual([ack_floor.stream_seq, num_ack_pending], [7, 8])
      }).pipe(quiet)
  )

  it.live("reads one filter subject, and acknowledges across what belongs to others", () =>
    Effect.gen(function* () {
      const { info, open, publish, stream } = yield* makeBench
      yield* publish(
        numbers(1, 40).flatMap((at) => numbered(`${stream}.${at % 4 === 0 ? "b" : "a"}`, 1, at))
      )
      const reader = yield* open(undefined, { consumer, filterSubject: `${stream}.b` })
      assert.deepStrictEqual(
        positions(yield* readRecords(reader, 10)),
        [4, 8, 12, 16, 20, 24, 28, 32, 36, 40]
      )
      yield* reader.acknowledge(23n)
      assert.deepInclude(yield* info, { num_ack_pending: 5 })
      assert.strictEqual((yield* info).ack_floor.stream_seq, 20)
    })
  )
})
