import { assert, describe, it } from "@effect/vitest"
import type { Gap, SourceRecord } from "@holdfast/records"
import { Effect, Fiber, Ref, References, Schedule } from "effect"
import { useNatsServer } from "./testing/server-layer.ts"
import {
  bounds,
  bytes,
  makeStreamBench,
  manage,
  numbered,
  numbers,
  positions,
  readRecords,
  text
} from "./testing/stream-bench.ts"

const { server } = useNatsServer()
const quiet = Effect.provideService(References.MinimumLogLevel, "None")

describe("gaps", () => {
  it.live("of deleted and purged positions are reported once, before what follows them", () =>
    Effect.gen(function* () {
      const { stream, connection, publish, open } = yield* makeStreamBench(server)
      yield* publish(numbered(`${stream}.a`, 20))
      const manager = yield* manage(connection)
      yield* Effect.promise(async () => {
        await manager.streams.purge(stream, { seq: 6 })
        for (const each of [9, 10, 15]) await manager.streams.deleteMessage(stream, each)
      })
      const gaps: Array<Gap> = []
      const records = yield* readRecords(yield* open(2n), 12, gaps)
      assert.deepStrictEqual(positions(records), [6, 7, 8, 11, 12, 13, 14, 16, 17, 18, 19, 20])
      assert.deepStrictEqual(gaps, [
        { from: 3n, to: 5n },
        { from: 9n, to: 10n },
        { from: 15n, to: 15n }
      ])
      const none: Array<Gap> = []
      yield* readRecords(yield* open(), 12, none)
      assert.deepStrictEqual(none[0], { from: 9n, to: 10n }, "none before the oldest record")
    })
  )

  it.live("at the end of an idle stream are noticed without a new record", () =>
    Effect.gen(function* () {
      const { stream, connection, publish, open } = yield* makeStreamBench(server)
      yield* publish(numbered(`${stream}.a`, 10))
      const reader = yield* open(4n, { windowRecords: 2, heartbeat: "50 millis" })
      assert.deepStrictEqual(
        positions((yield* reader.next({ ...bounds, maxRecords: 1 })).records),
        [5]
      )
      const manager = yield* manage(connection)
      yield* Effect.promise(() => manager.streams.purge(stream))
      const gaps: Array<Gap> = []
      const seen: Array<number> = [5]
      while (gaps.length === 0) {
        const batch = yield* reader.next(bounds)
        seen.push(...positions(batch.records))
        gaps.push(...batch.gaps)
      }
      const [gap] = gaps
      assert.deepStrictEqual([gap?.from, gap?.to], [BigInt(Math.max(...seen) + 1), 10n])
      yield* publish(numbered(`${stream}.a`, 1))
      assert.deepStrictEqual(positions(yield* readRecords(reader, 1, gaps)), [11])
      assert.strictEqual(gaps.length, 1)
    }).pipe(Effect.timeout("10 seconds"))
  )
})

describe("a reader", () => {
  it.live("worker-C21: 20,000 records through kills of the server come once and in order", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeStreamBench(server)
      yield* publish(numbered(`${stream}.a`, 20_000))
      const reader = yield* open(undefined, { windowRecords: 2_000 })
      const seen = yield* Ref.make(0)
      const reading = yield* Effect.gen(function* () {
        const records: Array<SourceRecord> = []
        while (records.length < 20_000) {
          const batch = yield* reader.next({ ...bounds, maxRecords: 500 })
          assert.deepStrictEqual(batch.gaps, [])
          records.push(...batch.records)
          yield* Ref.set(seen, records.length)
          yield* Effect.sleep("2 millis")
        }
        return records
      }).pipe(Effect.timeout("25 seconds"), Effect.forkChild)
      for (const mark of [2_000, 9_000, 15_000]) {
        yield* Effect.repeat(Ref.get(seen), {
          until: (count) => count >= mark,
          schedule: Schedule.spaced("1 millis")
        })
        yield* Effect.promise(() => server().kill())
        yield* Effect.promise(() => server().start())
      }
      const records = yield* Fiber.join(reading)
      assert.deepStrictEqual(positions(records), numbers(1, 20_000))
      assert.deepStrictEqual(text(records[19_999]?.data ?? bytes("")), "20000")
    }).pipe(quiet)
  )

  it.live("goes on when its consumer is deleted under it", () =>
    Effect.gen(function* () {
      const { stream, connection, publish, open } = yield* makeStreamBench(server)
      yield* publish(numbered(`${stream}.a`, 10))
      const reader = yield* open()
      yield* readRecords(reader, 10)
      const manager = yield* manage(connection)
      yield* Effect.promise(async () => {
        for await (const { name } of manager.consumers.list(stream)) {
          await manager.consumers.delete(stream, name)
        }
      })
      yield* publish(numbered(`${stream}.a`, 10, 11))
      assert.deepStrictEqual(positions(yield* readRecords(reader, 10)), numbers(11, 20))
    }).pipe(quiet)
  )

  it.live("worker-C23: pulls again when an idle request runs out", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeStreamBench(server)
      const reader = yield* open(undefined, { heartbeat: "50 millis" })
      yield* reader.next({ ...bounds, wait: "1200 millis" })
      yield* publish(numbered(`${stream}.a`, 3))
      assert.deepStrictEqual(positions(yield* readRecords(reader, 3)), [1, 2, 3])
    })
  )

  it.live("worker-D12: survives a stalled event loop", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeStreamBench(server)
      const reader = yield* open(undefined, { heartbeat: "50 millis" })
      yield* publish(numbered(`${stream}.a`, 5))
      yield* readRecords(reader, 5)
      const until = Date.now() + 700
      while (Date.now() < until) continue
      yield* publish(numbered(`${stream}.a`, 5, 6))
      assert.deepStrictEqual(positions(yield* readRecords(reader, 5)), numbers(6, 10))
    })
  )

  it.live(
    "worker-D6, worker-D8: a slow caller gets each record once, whatever was fetched ahead",
    () =>
      Effect.gen(function* () {
        const { stream, publish, open } = yield* makeStreamBench(server)
        yield* publish(numbered(`${stream}.a`, 12))
        const reader = yield* open(undefined, { heartbeat: "50 millis", windowRecords: 4 })
        const seen: Array<number> = []
        while (seen.length < 12) {
          seen.push(...positions((yield* reader.next({ ...bounds, maxRecords: 1 })).records))
          yield* Effect.sleep("60 millis")
        }
        assert.deepStrictEqual(seen, numbers(1, 12))
      })
  )

  it.live("worker-E1: what was fetched ahead and not taken comes to the next reader", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeStreamBench(server)
      yield* publish(numbered(`${stream}.a`, 10))
      const taken = yield* Effect.scoped(
        Effect.flatMap(open(), (reader) =>
          reader.next({ ...bounds, maxRecords: 3, wait: "2 seconds" })
        )
      )
      const last = taken.records.at(-1)?.position ?? 0n
      const rest = yield* readRecords(yield* open(last), 10 - taken.records.length)
      assert.deepStrictEqual(positions([...taken.records, ...rest]), numbers(1, 10))
    })
  )

  it.live("worker-E3: leaves no consumer behind when its scope closes", () =>
    Effect.gen(function* () {
      const { stream, connection, publish, open } = yield* makeStreamBench(server)
      yield* publish(numbered(`${stream}.a`, 5))
      yield* Effect.scoped(Effect.flatMap(open(), (reader) => readRecords(reader, 5)))
      const manager = yield* manage(connection)
      const info = yield* Effect.promise(() => manager.streams.info(stream))
      assert.strictEqual(info.state.consumer_count, 0)
    })
  )

  it.live("shows a short outage as empty batches and a long one as unavailable", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeStreamBench(server)
      const reader = yield* open(undefined, { outageGrace: "400 millis" })
      yield* Effect.promise(() => server().kill())
      assert.deepStrictEqual((yield* reader.next(bounds)).records, [])
      const failing = Effect.repeat(reader.next(bounds), { times: 100 })
      const error = yield* Effect.flip(failing)
      assert.strictEqual(error.code, "unavailable")
      yield* Effect.promise(() => server().start())
      yield* Effect.retry(publish(numbered(`${stream}.a`, 2)), {
        times: 200,
        schedule: Schedule.spaced("20 millis")
      })
      const read = Effect.retry(readRecords(reader, 2), {
        times: 200,
        schedule: Schedule.spaced("20 millis")
      })
      assert.deepStrictEqual(positions(yield* read), [1, 2])
    }).pipe(quiet)
  )
})
