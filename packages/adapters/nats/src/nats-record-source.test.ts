import { assert, describe, it } from "@effect/vitest"
import { jetstreamManager, RetentionPolicy } from "@nats-io/jetstream"
import type { RecordBatch, ShardReader, SourceRecord } from "@holdfast/records"
import { Effect, Fiber, Option, Ref, References, Schedule, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { ensureStream } from "./ensure-stream.ts"
import { type ManagedConnection, openConnection } from "./managed-connection.ts"
import { makeNatsRecordSource, type NatsRecordSourceOptions } from "./nats-record-source.ts"
import { openManager } from "./open-manager.ts"
import { makeRecordPublisher, type OutgoingRecord } from "./record-publisher.ts"
import { quickOptions, useNatsServer } from "./testing/server-layer.ts"

const { server } = useNatsServer()
const quiet = Effect.provideService(References.MinimumLogLevel, "None")
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (data: Uint8Array): string => new TextDecoder().decode(data)

const record = (subject: string, data: string, messageId?: string): OutgoingRecord => ({
  subject: bytes(subject),
  headers: [],
  data: bytes(data),
  ...(messageId === undefined ? {} : { messageId })
})
const numbered = (subject: string, count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => record(subject, String(from + index)))

interface Bench {
  readonly stream: string
  readonly connection: ManagedConnection
  readonly publish: (records: ReadonlyArray<OutgoingRecord>) => Effect.Effect<void, unknown>
  readonly open: (
    after?: bigint,
    options?: Partial<NatsRecordSourceOptions> & { readonly filterSubject?: string }
  ) => Effect.Effect<ShardReader, unknown, Scope.Scope>
}

/** A fresh stream with its own subjects, a publisher to it and readers of it. */
const makeBench = Effect.gen(function* () {
  const connection = yield* openConnection({ ...quickOptions, servers: [server().url] }, "test")
  const manager = yield* openManager(connection)
  const stream = `s${randomUUID().slice(0, 8)}`
  yield* ensureStream(connection, manager, { stream, subjects: [`${stream}.>`] })
  const publisher = yield* makeRecordPublisher(connection, { stream })
  const bench: Bench = {
    stream,
    connection,
    publish: (records) => Effect.asVoid(publisher.publish(records)),
    open: (after, { filterSubject, ...options } = {}) =>
      Effect.flatMap(
        makeNatsRecordSource(connection, {
          shards: Effect.succeed([
            { shard: "shard", stream, ...(filterSubject === undefined ? {} : { filterSubject }) }
          ]),
          heartbeat: "200 millis",
          ...options
        }),
        (source) => source.open({ shard: "shard", after: Option.fromUndefinedOr(after) })
      )
  }
  return bench
})

const bounds = { maxRecords: 1_000, maxBytes: 1_000_000, wait: "100 millis" } as const

/** Reads until a number of records has come, for 20 seconds at most. */
const readRecords = (
  reader: ShardReader,
  count: number,
  gaps: RecordBatch["gaps"][number][] = []
) =>
  Effect.gen(function* () {
    const records: Array<SourceRecord> = []
    while (records.length < count) {
      const batch = yield* reader.next(bounds)
      records.push(...batch.records)
      gaps.push(...batch.gaps)
    }
    return records
  }).pipe(Effect.timeout("20 seconds"))

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)
const positions = (records: ReadonlyArray<SourceRecord>) =>
  records.map((each) => Number(each.position))

describe("records of JetStream", () => {
  it.live("keep subject, headers, data and time byte for byte", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeBench
      const headers = [
        [bytes("trace"), Uint8Array.of(255, 0, 200, 32)],
        [bytes("Trace"), bytes("  spaces kept ")],
        [bytes("trace"), bytes("again")],
        [bytes("empty"), bytes("")]
      ] as const
      const data = Uint8Array.from({ length: 256 }, (_, index) => index)
      const before = BigInt(Date.now()) * 1_000_000n
      yield* publish([
        { subject: bytes(`${stream}.ü.ß`), headers, data },
        { subject: bytes(`${stream}.empty`), headers: [], data: new Uint8Array(0) }
      ])
      const [first, second] = yield* readRecords(yield* open(), 2)
      const plain = (record: SourceRecord | undefined) =>
        record?.headers.map(([name, value]) => [text(name), Array.from(value)])
      assert.strictEqual(text(first?.subject ?? bytes("")), `${stream}.ü.ß`)
      assert.deepStrictEqual(
        plain(first),
        headers.map(([name, value]) => [text(name), Array.from(value)])
      )
      assert.deepStrictEqual(Array.from(first?.data ?? []), Array.from(data))
      assert.deepStrictEqual([first?.position, second?.position], [1n, 2n])
      assert.deepStrictEqual([second?.headers, second?.data.length], [[], 0])
      const age = (first?.timestamp ?? 0n) - before
      assert.isTrue(age > -1_000_000_000n && age < 60_000_000_000n, String(age))
    })
  )

  it.live("start at the oldest, or strictly behind a position", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 20))
      assert.deepStrictEqual(positions(yield* readRecords(yield* open(), 20)), numbers(1, 20))
      assert.deepStrictEqual(positions(yield* readRecords(yield* open(17n), 3)), [18, 19, 20])
    })
  )

  it.live("`next` returns within its wait with what there is, and tells the newest", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeBench
      const reader = yield* open()
      const empty = yield* reader.next(bounds)
      assert.deepStrictEqual(empty, {
        records: [],
        gaps: [],
        newest: Option.none(),
        endOfShard: false
      })
      yield* publish(numbered(`${stream}.a`, 30))
      const some: Array<number> = []
      let newest = Option.none<bigint>()
      while (some.length < 30) {
        const batch = yield* reader.next({ ...bounds, maxRecords: 7 })
        assert.isAtMost(batch.records.length, 7)
        some.push(...positions(batch.records))
        newest = batch.newest
      }
      assert.deepStrictEqual(some, numbers(1, 30))
      assert.deepStrictEqual(newest, Option.some(30n))
      yield* reader.acknowledge(30n)
    })
  )

  it.live("a record larger than maxBytes is returned alone; windows far smaller than it work", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeBench
      const large = { ...record(`${stream}.a`, ""), data: new Uint8Array(700_000).fill(1) }
      yield* publish([large, ...numbered(`${stream}.a`, 5), large, large])
      const reader = yield* open(undefined, { windowBytes: 1_000, windowRecords: 4 })
      const sizes: Array<number> = []
      while (sizes.length < 8) {
        const batch = yield* reader.next({ ...bounds, maxBytes: 100 })
        const total = batch.records.reduce((sum, each) => sum + each.data.length, 0)
        assert.isTrue(batch.records.length <= 1 || total <= 100)
        sizes.push(...batch.records.map((each) => each.data.length))
      }
      assert.deepStrictEqual(sizes, [700_000, 1, 1, 1, 1, 1, 700_000, 700_000])
    }).pipe(Effect.timeout("10 seconds"))
  )

  it.live("of one filter subject come alone, other subjects between are no gaps", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeBench
      const mixed = numbers(1, 40).map((each) =>
        record(`${stream}.${each % 4 === 0 ? "b.x" : "a"}`, String(each))
      )
      yield* publish(mixed)
      const gaps: Array<RecordBatch["gaps"][number]> = []
      const reader = yield* open(4n, { filterSubject: `${stream}.b.*` })
      const records = yield* readRecords(reader, 9, gaps)
      assert.deepStrictEqual(positions(records), [8, 12, 16, 20, 24, 28, 32, 36, 40])
      assert.deepStrictEqual(gaps, [])
    })
  )
})

const manage = (connection: ManagedConnection) =>
  Effect.promise(() => jetstreamManager(connection.native))

describe("gaps", () => {
  it.live("of deleted and purged positions are reported once, before what follows them", () =>
    Effect.gen(function* () {
      const { stream, connection, publish, open } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 20))
      const manager = yield* manage(connection)
      yield* Effect.promise(async () => {
        await manager.streams.purge(stream, { seq: 6 })
        for (const each of [9, 10, 15]) await manager.streams.deleteMessage(stream, each)
      })
      const gaps: Array<RecordBatch["gaps"][number]> = []
      const records = yield* readRecords(yield* open(2n), 12, gaps)
      assert.deepStrictEqual(positions(records), [6, 7, 8, 11, 12, 13, 14, 16, 17, 18, 19, 20])
      assert.deepStrictEqual(gaps, [
        { from: 3n, to: 5n },
        { from: 9n, to: 10n },
        { from: 15n, to: 15n }
      ])
      const none: Array<RecordBatch["gaps"][number]> = []
      yield* readRecords(yield* open(), 12, none)
      assert.deepStrictEqual(none[0], { from: 9n, to: 10n }, "none before the oldest record")
    })
  )

  it.live("at the end of an idle stream are noticed without a new record", () =>
    Effect.gen(function* () {
      const { stream, connection, publish, open } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 10))
      const reader = yield* open(4n, { windowRecords: 2, heartbeat: "50 millis" })
      assert.deepStrictEqual(
        positions((yield* reader.next({ ...bounds, maxRecords: 1 })).records),
        [5]
      )
      const manager = yield* manage(connection)
      yield* Effect.promise(() => manager.streams.purge(stream))
      const gaps: Array<RecordBatch["gaps"][number]> = []
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
      const { stream, publish, open } = yield* makeBench
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
      const { stream, connection, publish, open } = yield* makeBench
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
      const { stream, publish, open } = yield* makeBench
      const reader = yield* open(undefined, { heartbeat: "50 millis" })
      yield* reader.next({ ...bounds, wait: "1200 millis" })
      yield* publish(numbered(`${stream}.a`, 3))
      assert.deepStrictEqual(positions(yield* readRecords(reader, 3)), [1, 2, 3])
    })
  )

  it.live("worker-D12: survives a stalled event loop", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeBench
      const reader = yield* open(undefined, { heartbeat: "50 millis" })
      yield* publish(numbered(`${stream}.a`, 5))
      yield* readRecords(reader, 5)
      const until = Date.now() + 700
      while (Date.now() < until) continue
      yield* publish(numbered(`${stream}.a`, 5, 6))
      assert.deepStrictEqual(positions(yield* readRecords(reader, 5)), numbers(6, 10))
    })
  )

  it.live("worker-E3: leaves no consumer behind when its scope closes", () =>
    Effect.gen(function* () {
      const { stream, connection, publish, open } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 5))
      yield* Effect.scoped(Effect.flatMap(open(), (reader) => readRecords(reader, 5)))
      const manager = yield* manage(connection)
      const info = yield* Effect.promise(() => manager.streams.info(stream))
      assert.strictEqual(info.state.consumer_count, 0)
    })
  )

  it.live("shows a short outage as empty batches and a long one as unavailable", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeBench
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

describe("a stream that cannot be read", () => {
  it.live("is not-found when there is none, and its shard is not listed", () =>
    Effect.gen(function* () {
      const { connection, stream } = yield* makeBench
      const source = yield* makeNatsRecordSource(connection, {
        shards: Effect.succeed([
          { shard: "here", stream },
          { shard: "missing", stream: "missing" }
        ])
      })
      assert.deepStrictEqual(yield* source.shards, [{ shard: "here", stream }])
      const open = (shard: string) =>
        Effect.flip(Effect.scoped(source.open({ shard, after: Option.none() })))
      assert.strictEqual((yield* open("missing")).code, "not-found")
      const unknown = yield* open("else")
      assert.match(unknown.message, /configured are: here, missing/)
    })
  )

  it.live("is refused when it ends before the checkpoint, or is made again while it is read", () =>
    Effect.gen(function* () {
      const { connection, stream, publish, open } = yield* makeBench
      yield* publish(numbered(`${stream}.a`, 5))
      const early = yield* Effect.flip(open(6n))
      assert.match(String(early), /ends at 5/)
      const reader = yield* open()
      yield* readRecords(reader, 5)
      const manager = yield* manage(connection)
      yield* Effect.promise(async () => {
        const { config } = await manager.streams.info(stream)
        await manager.streams.delete(stream)
        await manager.streams.add(config)
      })
      yield* publish(numbered(`${stream}.a`, 9))
      const error = yield* Effect.flip(Effect.repeat(reader.next(bounds), { times: 100 }))
      assert.strictEqual(error.code, "not-found")
    }).pipe(quiet)
  )

  it.live("is unsupported when delivering deletes its records", () =>
    Effect.gen(function* () {
      const { connection, stream, open } = yield* makeBench
      const manager = yield* manage(connection)
      yield* Effect.promise(async () => {
        const { config } = await manager.streams.info(stream)
        await manager.streams.delete(stream)
        await manager.streams.add({ ...config, retention: RetentionPolicy.Interest })
      })
      assert.match(String(yield* Effect.flip(open())), /retention "interest"/)
    })
  )
})
