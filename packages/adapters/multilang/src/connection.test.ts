import { PassThrough } from "node:stream"
import { assert, describe, it } from "@effect/vitest"
import { CheckpointStore, RecordSource } from "@holdfast/records"
import { Context, Effect, Layer, Option } from "effect"
import { vi } from "vitest"
import { MultiLangDaemon, multiLangDaemon } from "./index.ts"
import { TestDaemon } from "./testing/daemon.ts"

const shard = "shardId-000000000000"
const records = [1, 2, 3].map((at) => ({ sequenceNumber: at, data: "x".repeat(100) }))

const connected = Effect.fnUntraced(function* (
  limits: { readonly lineBytesMax?: number; readonly retainedBytesMax?: number } = {}
) {
  const daemon = new TestDaemon({ records })
  const layer = multiLangDaemon({ ...daemon.childPipes, stream: "orders", ...limits })
  const ports = yield* Layer.build(layer)
  return {
    daemon,
    source: Context.get(ports, RecordSource),
    store: Context.get(ports, CheckpointStore),
    ended: Context.get(ports, MultiLangDaemon).ended
  }
})
const bounds = { maxRecords: 10, maxBytes: 1_000, wait: "1 second" } as const
const positionsOf = (batch: { readonly records: ReadonlyArray<{ readonly position: bigint }> }) =>
  batch.records.map(({ position }) => Number(position >> 32n))

describe("the connection to a daemon", () => {
  it.live(
    "worker-W24: passes over blank lines and stray prints, in whatever pieces they come",
    () =>
      Effect.gen(function* () {
        const { daemon, source } = yield* connected()
        const prints = "\n\r\n  \nnot for you\n"
        for (const piece of [prints, '{"action":"ini', 'tialize","shardId":"s"}', "\r\n"]) {
          daemon.toChild.write(piece)
        }
        yield* Effect.promise(() =>
          vi.waitFor(() => assert.lengthOf(daemon.transcript, 1), { interval: 5 })
        )
        assert.deepStrictEqual(yield* source.shards, [{ shard: "s", stream: "orders" }])
        assert.deepStrictEqual(daemon.stray, [])
      })
  )

  it.live("ends as a fault with the sentence of a line that is no action", () =>
    Effect.gen(function* () {
      const { daemon, ended } = yield* connected()
      daemon.say('{"action":"dance"}')
      const end = yield* ended
      assert.strictEqual(end._tag, "Fault")
      assert.match(end._tag === "Fault" ? end.message : "", /no action/)
      assert.deepStrictEqual(daemon.transcript, ['> {"action":"dance"}'])
    })
  )

  it.live("takes no more than so many stray prints", () =>
    Effect.gen(function* () {
      const { daemon, ended } = yield* connected()
      daemon.toChild.write("oops\n".repeat(101))
      assert.strictEqual((yield* ended)._tag, "Fault")
    })
  )

  it.live("takes a line of exactly the limit, and none above it, however it comes", () =>
    Effect.gen(function* () {
      const line = JSON.stringify({ action: "initialize", shardId: "s" })
      const fits = yield* connected({ lineBytesMax: line.length })
      yield* Effect.promise(() => fits.daemon.act(JSON.parse(line)))
      assert.deepStrictEqual(yield* fits.source.shards, [{ shard: "s", stream: "orders" }])
      const tight = yield* connected({ lineBytesMax: line.length - 1 })
      for (const piece of line) tight.daemon.toChild.write(piece)
      const end = yield* tight.ended
      assert.match(end._tag === "Fault" ? end.message : "", /more than \d+ bytes/)
    })
  )

  it.live("lets the daemon wait while too much is not checkpointed, and no longer", () =>
    Effect.gen(function* () {
      const { daemon, source, store } = yield* connected({ retainedBytesMax: 400 })
      yield* Effect.promise(() => daemon.initialize())
      let isAnswered = false
      const delivered = daemon.deliver(2).then(() => (isAnswered = true))
      const reader = yield* source.open({ shard, after: Option.none() })
      const batch = yield* reader.next(bounds)
      assert.deepStrictEqual(positionsOf(batch), [1, 2])
      yield* Effect.sleep("50 millis")
      assert.isFalse(isAnswered)
      const position = batch.records[0]!.position
      const checkpoint = { completionMap: new Uint8Array(0), epoch: 1, owner: "w" }
      yield* store.save({
        shard,
        checkpoint: { ...checkpoint, position: Option.some(position) },
        expected: Option.none()
      })
      yield* reader.acknowledge(position)
      yield* Effect.promise(() => delivered)
      assert.deepStrictEqual(daemon.checkpoint, [1, 0])
    })
  )

  it.live("gives whoever opens the shard again what is not checkpointed, and nothing below", () =>
    Effect.gen(function* () {
      const { daemon, source } = yield* connected()
      yield* Effect.promise(() => daemon.initialize())
      yield* Effect.promise(() => daemon.deliver(3))
      const first = yield* source.open({ shard, after: Option.none() })
      const { records: all } = yield* first.next(bounds)
      yield* first.acknowledge(all[0]!.position)
      const again = yield* source.open({ shard, after: Option.some(all[0]!.position) })
      assert.deepStrictEqual(positionsOf(yield* again.next(bounds)), [2, 3])
      const error = yield* Effect.flip(source.open({ shard, after: Option.none() }))
      assert.strictEqual(error.code, "not-found")
    })
  )

  it.live("ends when nobody reads its answers any more", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const output = new PassThrough()
      const ports = yield* Layer.build(multiLangDaemon({ input, output, stream: "orders" }))
      output.destroy()
      input.write('{"action":"initialize","shardId":"s"}\n')
      assert.deepStrictEqual(yield* Context.get(ports, MultiLangDaemon).ended, {
        _tag: "InputEnded"
      })
    })
  )
})
