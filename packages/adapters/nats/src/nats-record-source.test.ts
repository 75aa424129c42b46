import { assert, describe, it } from "@effect/vitest"
import { RetentionPolicy } from "@nats-io/jetstream"
import type { Gap, SourceRecord } from "@holdfast/records"
import { describeRecordSourceContract, type RecordSourceContract } from "@holdfast/suites"
import { Effect, Layer, Option, References } from "effect"
import { randomUUID } from "node:crypto"
import { ensureStream } from "./ensure-stream.ts"
import { openConnection } from "./managed-connection.ts"
import { makeNatsRecordSource, natsRecordSourceLayer } from "./nats-record-source.ts"
import { openManager } from "./open-manager.ts"
import { makeRecordPublisher } from "./record-publisher.ts"
import type { NatsShard } from "./stream-facts.ts"
import { quickOptions, useNatsServer } from "./testing/server-layer.ts"
import {
  bounds,
  bytes,
  makeStreamBench,
  manage,
  numbered,
  numbers,
  positions,
  readRecords,
  record,
  text
} from "./testing/stream-bench.ts"

const { server, connections } = useNatsServer()
const quiet = Effect.provideService(References.MinimumLogLevel, "None")

const storageWith = Effect.fnUntraced(function* (more: Pick<NatsShard, "consumer">) {
  const connection = yield* openConnection({ ...quickOptions, servers: [server().url] }, "test")
  const manager = yield* openManager(connection)
  const stream = `s${randomUUID().slice(0, 8)}`
  yield* Effect.acquireRelease(
    ensureStream(connection, { stream, subjects: ["orders.>", "subject.>"] }),
    () => Effect.promise(() => manager.streams.delete(stream))
  )
  const publisher = yield* makeRecordPublisher(connection, { stream })
  const layer = natsRecordSourceLayer({
    shards: Effect.succeed([{ shard: "shard", stream, ...more }]),
    heartbeat: "200 millis"
  }).pipe(Layer.provide(connections()))
  return { shard: "shard", stream, manager, publisher, layer }
})

const contract = {
  put: ({ publisher }, records) => Effect.asVoid(publisher.publish(records)),
  keeps: ["subject", "headers"],
  grows: true,
  purge: ({ manager, stream }, upTo) =>
    Effect.promise(() => manager.streams.purge(stream, { seq: Number(upTo) + 1 })),
  remove: ({ manager, stream }, position) =>
    Effect.promise(() => manager.streams.deleteMessage(stream, Number(position)))
} satisfies Omit<
  RecordSourceContract<Effect.Success<ReturnType<typeof storageWith>>>,
  "name" | "storage"
>

describeRecordSourceContract({ ...contract, name: "nats", storage: storageWith({}) })
describeRecordSourceContract({
  ...contract,
  name: "nats, acknowledged at the watermark",
  storage: storageWith({ consumer: "archive" })
})

describe("records of JetStream", () => {
  it.live("keep subject, headers, data and time byte for byte", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeStreamBench(server)
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
      const { stream, publish, open } = yield* makeStreamBench(server)
      yield* publish(numbered(`${stream}.a`, 20))
      assert.deepStrictEqual(positions(yield* readRecords(yield* open(), 20)), numbers(1, 20))
      assert.deepStrictEqual(positions(yield* readRecords(yield* open(17n), 3)), [18, 19, 20])
    })
  )

  it.live("`next` returns within its wait with what there is, and tells the newest", () =>
    Effect.gen(function* () {
      const { stream, publish, open } = yield* makeStreamBench(server)
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
      const { stream, publish, open } = yield* makeStreamBench(server)
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
      const { stream, publish, open } = yield* makeStreamBench(server)
      const mixed = numbers(1, 40).map((each) =>
        record(`${stream}.${each % 4 === 0 ? "b.x" : "a"}`, String(each))
      )
      yield* publish(mixed)
      const gaps: Array<Gap> = []
      const reader = yield* open(4n, { filterSubject: `${stream}.b.*` })
      const records = yield* readRecords(reader, 9, gaps)
      assert.deepStrictEqual(positions(records), [8, 12, 16, 20, 24, 28, 32, 36, 40])
      assert.deepStrictEqual(gaps, [])
    })
  )
})

describe("a stream that cannot be read", () => {
  it.live("is not-found when there is none, and its shard is not listed", () =>
    Effect.gen(function* () {
      const { connection, stream } = yield* makeStreamBench(server)
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
      const { connection, stream, publish, open } = yield* makeStreamBench(server)
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
      const { connection, stream, open } = yield* makeStreamBench(server)
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
