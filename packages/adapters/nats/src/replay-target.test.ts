import { assert, describe, it } from "@effect/vitest"
import { DiscardPolicy, RetentionPolicy } from "@nats-io/jetstream"
import type { ReplayRecord } from "@holdfast/records"
import { Effect, References, Stream } from "effect"
import { makeNatsReplayTarget } from "./replay-target.ts"
import { useNatsServer } from "./testing/server-layer.ts"
import {
  bytes,
  makeStreamBench,
  manage,
  numbers,
  readRecords,
  text
} from "./testing/stream-bench.ts"

const { server } = useNatsServer()
const quiet = Effect.provideService(References.MinimumLogLevel, "None")

const replayed = (subject: string, from: number, to: number): ReadonlyArray<ReplayRecord> =>
  numbers(from, to).map((each) => ({
    id: `holdfast.x.${each}`,
    timestamp: 0n,
    subject: bytes(subject),
    headers: [],
    data: bytes("x".repeat((each * 37) % 200) + each)
  }))

const makeBench = Effect.gen(function* () {
  const bench = yield* makeStreamBench(server)
  const manager = yield* manage(bench.connection)
  const { connection, stream } = bench
  return { ...bench, manager, target: () => makeNatsReplayTarget(connection, { stream }) }
})

const found = (target: { readonly earlier: Stream.Stream<ReadonlyArray<string>, unknown> }) =>
  Effect.map(Stream.runCollect(target.earlier), (pieces) => pieces.flat())

const dataOf = (records: ReadonlyArray<{ readonly data: Uint8Array }>) =>
  records.map(({ data }) => text(data))

describe("a stream as the target of a replay", () => {
  it.live("tells the ids of earlier runs from the newest back, also behind others' records", () =>
    Effect.gen(function* () {
      const { open, publish, stream, target: openTarget } = yield* makeBench
      const target = yield* openTarget()
      assert.deepStrictEqual(yield* found(target), [])
      const records = replayed(`${stream}.a`, 1, 3_000)
      yield* target.publish(records)
      const ids = records.map(({ id }) => id).toReversed()
      assert.deepStrictEqual(yield* found(target), ids)
      const other = { subject: bytes(`${stream}.b`), headers: [], data: bytes("") }
      yield* publish(numbers(1, 2_500).map(() => other))
      assert.deepStrictEqual(yield* found(yield* openTarget()), ids)
      assert.strictEqual((yield* readRecords(yield* open(), 5_500)).length, 5_500)
    })
  )

  it.live("a target that is full keeps a beginning, and goes on where it stopped", () =>
    Effect.gen(function* () {
      const { manager, open, stream, target: openTarget } = yield* makeBench
      const limits = { max_bytes: 40_000, discard: DiscardPolicy.New }
      const { config } = yield* Effect.promise(() => manager.streams.info(stream))
      yield* Effect.promise(() => manager.streams.delete(stream))
      yield* Effect.promise(() => manager.streams.add({ ...config, ...limits }))
      const records = replayed(`${stream}.a`, 1, 2_000)
      const target = yield* openTarget()
      const error = yield* Effect.flip(target.publish(records))
      assert.deepStrictEqual([error.code, error.stored > 10], ["full", true])
      const ids = (yield* found(target)).toReversed()
      // A small record behind the one that did not fit would have fitted: it must not be there.
      assert.deepStrictEqual(
        ids,
        records.slice(0, ids.length).map(({ id }) => id)
      )
      yield* Effect.promise(() => manager.streams.update(stream, { max_bytes: -1 }))
      yield* target.publish(records.slice(ids.length))
      assert.deepStrictEqual(dataOf(yield* readRecords(yield* open(), 2_000)), dataOf(records))
    })
  )

  it.live("somebody else's records in between change nothing of the order", () =>
    Effect.gen(function* () {
      const { open, publish, stream, target: openTarget } = yield* makeBench
      const target = yield* openTarget()
      const records = replayed(`${stream}.a`, 1, 4_000)
      const replaying = { isOver: false }
      const others = Effect.gen(function* () {
        let count = 0
        for (; !replaying.isOver; count += 1) {
          yield* publish([{ subject: bytes(`${stream}.b`), headers: [], data: bytes("other") }])
          yield* Effect.sleep("5 millis")
        }
        return count
      })
      const replay = Effect.ensuring(
        target.publish(records),
        Effect.sync(() => {
          replaying.isOver = true
        })
      )
      const [count] = yield* Effect.all([others, replay], { concurrency: 2 })
      const all = yield* readRecords(yield* open(), 4_000 + count)
      const ours = all.filter(({ subject }) => text(subject) === `${stream}.a`)
      assert.deepStrictEqual(dataOf(ours), dataOf(records))
    })
  )

  it.live("a server that is killed and forgets its ids meanwhile: each record once, in order", () =>
    Effect.gen(function* () {
      const { manager, open, stream, target: openTarget } = yield* makeBench
      yield* Effect.promise(() => manager.streams.update(stream, { duplicate_window: 100_000_000 }))
      const target = yield* openTarget()
      const records = replayed(`${stream}.a`, 1, 20_000)
      const crash = Effect.gen(function* () {
        yield* Effect.sleep("60 millis")
        yield* Effect.promise(() => server().kill())
        yield* Effect.sleep("200 millis")
        yield* Effect.promise(() => server().start())
      })
      yield* Effect.all([target.publish(records), crash], { concurrency: 2 })
      assert.deepStrictEqual(dataOf(yield* readRecords(yield* open(), 20_000)), dataOf(records))
    }).pipe(quiet)
  )

  it.live("archive-R3: a server that has forgotten the last id is gone on with", () =>
    Effect.gen(function* () {
      const { manager, open, stream, target: openTarget } = yield* makeBench
      yield* Effect.promise(() => manager.streams.update(stream, { duplicate_window: 100_000_000 }))
      const records = replayed(`${stream}.a`, 1, 1_000)
      const target = yield* openTarget()
      yield* target.publish(records.slice(0, 400))
      yield* Effect.promise(() => server().kill())
      yield* Effect.sleep("200 millis")
      yield* Effect.promise(() => server().start())
      yield* target.publish(records.slice(400))
      assert.deepStrictEqual(dataOf(yield* readRecords(yield* open(), 1_000)), dataOf(records))
    }).pipe(quiet)
  )

  it.live("archive-R4: records whose own message ids repeat all come; the ids are kept aside", () =>
    Effect.gen(function* () {
      const { open, stream, target: openTarget } = yield* makeBench
      const own = [bytes("Nats-Msg-Id"), bytes("same")] as const
      const rollup = [bytes("Nats-Rollup"), bytes("all")] as const
      const records = replayed(`${stream}.a`, 1, 5).map((one) => ({
        ...one,
        headers: [own, rollup, own]
      }))
      yield* (yield* openTarget()).publish(records)
      const read = yield* readRecords(yield* open(), 5)
      assert.deepStrictEqual(dataOf(read), dataOf(records))
      const names = read[4]?.headers.map(([name, value]) => `${text(name)}: ${text(value)}`)
      assert.deepStrictEqual(names, [
        "Nats-Msg-Id: holdfast.x.5",
        "Nats-Expected-Last-Msg-Id: holdfast.x.4",
        "Holdfast-Original-Nats-Msg-Id: same",
        "Holdfast-Original-Nats-Rollup: all",
        "Holdfast-Original-Nats-Msg-Id: same"
      ])
    })
  )

  it.live("a subject that another stream takes gets nowhere; what stands before it is stored", () =>
    Effect.gen(function* () {
      const other = yield* makeBench
      const { open, stream, target: openTarget } = yield* makeBench
      const target = yield* openTarget()
      const records = [...replayed(`${stream}.a`, 1, 3), ...replayed(`${other.stream}.a`, 4, 6)]
      const error = yield* Effect.flip(target.publish(records))
      assert.deepStrictEqual([error.code, error.stored], ["refused", 3])
      assert.include(error.message, `does not take the subject "${other.stream}.a"`)
      assert.strictEqual((yield* readRecords(yield* open(), 3)).length, 3)
      const info = yield* Effect.promise(() => other.manager.streams.info(other.stream))
      assert.strictEqual(info.state.last_seq, 0)
    })
  )

  it.live("a stream that is not there, and one that forgets what was consumed, are refused", () =>
    Effect.gen(function* () {
      const { connection, manager, stream } = yield* makeBench
      const open = (name: string) => Effect.flip(makeNatsReplayTarget(connection, { stream: name }))
      assert.strictEqual((yield* open("nowhere")).code, "not-found")
      const name = `${stream}-queue`
      const queue = { name, subjects: [`${stream}q.>`], retention: RetentionPolicy.Workqueue }
      yield* Effect.promise(() => manager.streams.add(queue))
      const error = yield* open(name)
      assert.strictEqual(error.code, "refused")
      assert.include(error.message, 'retention "workqueue"')
    })
  )
})
