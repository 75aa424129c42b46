import { assert, describe, it } from "@effect/vitest"
import { DiscardPolicy } from "@nats-io/jetstream"
import { Effect, References, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { disarmControlHeaders } from "./control-headers.ts"
import { ensureStream } from "./ensure-stream.ts"
import { openConnection } from "./managed-connection.ts"
import { openManager } from "./open-manager.ts"
import { makeRecordPublisher, type OutgoingRecord } from "./record-publisher.ts"
import { quickOptions, useNatsServer } from "./testing/server-layer.ts"
import {
  bytes,
  makeStreamBench,
  numbers,
  readRecords,
  record,
  text
} from "./testing/stream-bench.ts"

const { server } = useNatsServer()
const quiet = Effect.provideService(References.MinimumLogLevel, "None")

const identified = (subject: string, count: number) =>
  numbers(1, count).map((each) => record(subject, String(each), `id-${each}`))

const makePublisher = Effect.gen(function* () {
  const connection = yield* openConnection({ ...quickOptions, servers: [server().url] }, "test")
  const manager = yield* openManager(connection)
  const stream = `p${randomUUID().slice(0, 8)}`
  const ensure = ensureStream(connection, { stream, subjects: [`${stream}.>`] })
  const publisher = yield* makeRecordPublisher(connection, { stream, window: 64 })
  return { connection, manager, stream, ensure, publisher }
})

describe("ensuring a stream", () => {
  it.live("makes it once", () =>
    Effect.gen(function* () {
      const { ensure } = yield* makePublisher
      assert.deepStrictEqual([yield* ensure, yield* ensure], [true, false])
    })
  )

  it.live("says why when the server cannot make it", () =>
    Effect.gen(function* () {
      const { connection, stream } = yield* makePublisher
      const error = yield* Effect.flip(ensureStream(connection, { stream, subjects: ["a..b"] }))
      assert.include(error.message, `the stream ${stream} cannot be set up`)
    })
  )
})

describe("publishing records", () => {
  it.live("stores them in order; a repeat with the same ids adds nothing", () =>
    Effect.gen(function* () {
      const { stream, ensure, publisher, manager } = yield* makePublisher
      yield* ensure
      const records = identified(`${stream}.a`, 1_000)
      const first = yield* publisher.publish(records)
      const second = yield* publisher.publish(records)
      assert.deepStrictEqual([first.duplicates, first.last], [0, 1_000n])
      assert.deepStrictEqual([second.duplicates, second.last], [1_000, 1_000n])
      const info = yield* Effect.promise(() => manager.streams.info(stream))
      assert.strictEqual(info.state.messages, 1_000)
      assert.deepStrictEqual(yield* publisher.publish([]), { duplicates: 0, last: 0n })
    })
  )

  it.live("through a kill of the server stores each record once, in order", () =>
    Effect.gen(function* () {
      const bench = yield* makeStreamBench(server)
      const { stream, connection } = bench
      const publisher = yield* makeRecordPublisher(connection, { stream, window: 256 })
      const records = identified(`${stream}.a`, 20_000)
      let stored = 0
      const rest = Effect.suspend(() => publisher.publish(records.slice(stored))).pipe(
        Effect.tapError((error) =>
          Effect.sync(() => {
            stored += error.stored
          })
        ),
        Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 500 })
      )
      const crash = Effect.gen(function* () {
        yield* Effect.sleep("60 millis")
        yield* Effect.promise(() => server().kill())
        yield* Effect.promise(() => server().start())
      })
      yield* Effect.all([rest, crash], { concurrency: 2 })
      assert.isAbove(stored, 0, "the kill came after the last record")
      const read = yield* readRecords(yield* bench.open(), 20_000)
      assert.deepStrictEqual(
        read.map((each) => text(each.data)),
        numbers(1, 20_000).map(String)
      )
    }).pipe(quiet)
  )

  it.live("a stream at its limit refuses: what it did not take does not count as stored", () =>
    Effect.gen(function* () {
      const { ensure, manager, publisher, stream } = yield* makePublisher
      yield* ensure
      const limits = { max_msgs: 10, discard: DiscardPolicy.New }
      yield* Effect.promise(() => manager.streams.update(stream, limits))
      const error = yield* Effect.flip(publisher.publish(identified(`${stream}.a`, 20)))
      assert.deepStrictEqual([error.code, error.stored], ["full", 10])
    })
  )

  const refused: ReadonlyArray<
    readonly [string, (stream: string) => OutgoingRecord, string, RegExp]
  > = [
    [
      "too large",
      (stream) => ({ ...record(`${stream}.a`, ""), data: new Uint8Array(2_000_000) }),
      "too-large",
      /record 2/
    ],
    ["on a subject with a wildcard", (stream) => record(`${stream}.*`, ""), "invalid", /wildcard/],
    [
      "on a subject that is not UTF-8",
      () => ({ ...record("", ""), subject: Uint8Array.of(255) }),
      "invalid",
      /UTF-8/
    ],
    [
      "with a line break in a header",
      (stream) => ({ ...record(`${stream}.a`, ""), headers: [[bytes("a"), bytes("\n")]] }),
      "invalid",
      /line feed/
    ],
    [
      "on a subject that no stream takes",
      () => record("nowhere.a", ""),
      "unavailable",
      /no stream/
    ],
    [
      "on a subject of another stream",
      () => record("elsewhere.a", ""),
      "refused",
      /stream other takes/
    ]
  ]
  for (const [what, make, code, message] of refused) {
    it.live(`stops at a record ${what} and says how many are stored`, () =>
      Effect.gen(function* () {
        const { connection, stream, ensure, publisher } = yield* makePublisher
        yield* ensure
        yield* ensureStream(connection, { stream: "other", subjects: ["elsewhere.>"] })
        const good = identified(`${stream}.a`, 2)
        yield* publisher.publish(good)
        const error = yield* Effect.flip(publisher.publish([...good, make(stream), ...good]))
        assert.strictEqual(error.code, code)
        assert.match(error.message, message)
        assert.isAtMost(error.stored, 2)
      })
    )
  }

  it("renames headers that would command the server again, and drops its own", () => {
    const names = [
      "Nats-Expected-Last-Sequence",
      "nats-rollup",
      "Nats-Msg-Id",
      "Nats-TTL",
      "Nats-Sequence",
      "trace"
    ]
    const kept = disarmControlHeaders([
      ...names.map((name) => [bytes(name), bytes("x")] as const),
      [bytes("Nats-Msg-Id"), bytes("holdfast.orders.0011223344556677.1")]
    ])
    assert.deepStrictEqual(
      kept.map(([name]) => text(name)),
      [
        "Holdfast-Original-Nats-Expected-Last-Sequence",
        "Holdfast-Original-nats-rollup",
        "Holdfast-Original-Nats-Msg-Id",
        "Holdfast-Original-Nats-TTL",
        "Nats-Sequence",
        "trace"
      ]
    )
  })
})
