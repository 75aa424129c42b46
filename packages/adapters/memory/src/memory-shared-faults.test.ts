import { assert, describe, it } from "@effect/vitest"
import { CheckpointStore, RecordSpool } from "@holdfast/records"
import { Effect, Fiber, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { DiskFault } from "./disk-fault.ts"
import { memoryCheckpointStore } from "./memory-checkpoint-store.ts"
import { KeyValueFault, MemoryKeyValue } from "./memory-key-value.ts"
import { memoryRecordSpool } from "./memory-record-spool.ts"
import { MemoryStreams, StreamFault } from "./memory-streams.ts"
import { FaultPlan, faultlessLink } from "./network-fault.ts"

const checkpoint = {
  position: Option.some(1n),
  completionMap: new Uint8Array(),
  epoch: 1,
  owner: "worker-1"
}
const record = { timestamp: 0n, subject: new Uint8Array(), headers: [], data: Uint8Array.of(1) }

const makeStore = Effect.gen(function* () {
  const keyValue = MemoryKeyValue.make()
  const store = yield* Effect.provide(CheckpointStore, memoryCheckpointStore(keyValue))
  const save = (expected: Option.Option<bigint>) =>
    store.save({ shard: "orders", checkpoint, expected })
  return { keyValue, store, save }
})

const makeSpool = Effect.gen(function* () {
  const streams = MemoryStreams.make()
  const spool = yield* Effect.provide(RecordSpool, memoryRecordSpool(streams))
  const append = (appendId: string) =>
    spool.append({ stream: "orders", appendId, records: [record] })
  return { streams, spool, append }
})

describe("a shared key-value store under faults", () => {
  it.effect("a save whose answer was lost has happened: a repeat of it conflicts", () =>
    Effect.gen(function* () {
      const { keyValue, store, save } = yield* makeStore
      yield* keyValue.apply({ _tag: "LoseAnswers", count: 1 })
      const lost = yield* Effect.flip(save(Option.none()))
      assert.strictEqual(lost._tag, "CheckpointStoreError")
      const repeated = yield* Effect.flip(save(Option.none()))
      assert.strictEqual(repeated._tag, "CheckpointConflict")
      assert.isTrue(Option.isSome(yield* store.load("orders")))
    })
  )

  it.effect("a save that found the store unavailable has not happened", () =>
    Effect.gen(function* () {
      const { keyValue, save } = yield* makeStore
      yield* keyValue.apply({ _tag: "Unavailable", count: 1 })
      const refused = yield* Effect.flip(save(Option.none()))
      assert.strictEqual("code" in refused ? refused.code : refused._tag, "unavailable")
      yield* save(Option.none())
    })
  )

  it.effect("a delay is taken before and after the write, which happens in between", () =>
    Effect.gen(function* () {
      const { keyValue, store, save } = yield* makeStore
      yield* keyValue.apply({ _tag: "DelayMillis", millis: 100 })
      const saving = yield* Effect.forkChild(save(Option.none()), { startImmediately: true })
      yield* TestClock.adjust("150 millis")
      assert.isUndefined(saving.pollUnsafe())
      yield* keyValue.apply({ _tag: "DelayMillis", millis: 0 })
      assert.isTrue(Option.isSome(yield* store.load("orders")))
      yield* TestClock.adjust("50 millis")
      yield* Fiber.join(saving)
    })
  )
})

describe("shared streams under faults", () => {
  it.effect("an append whose answer was lost has happened: a repeat answers its positions", () =>
    Effect.gen(function* () {
      const { streams, spool, append } = yield* makeSpool
      yield* streams.apply({ _tag: "LoseAnswers", count: 1 })
      const lost = yield* Effect.flip(append("a"))
      assert.strictEqual(lost.code, "unavailable")
      assert.deepStrictEqual(yield* append("a"), { first: 1n, last: 1n })
      assert.strictEqual((yield* spool.status)[0]?.last, 1n)
    })
  )

  it.effect("an append's id is forgotten after 1,024 later ones", () =>
    Effect.gen(function* () {
      const { append } = yield* makeSpool
      for (let index = 0; index <= 1_024; index += 1) yield* append(`append-${index}`)
      assert.deepStrictEqual(yield* append("append-1"), { first: 2n, last: 2n })
      assert.deepStrictEqual(yield* append("append-0"), { first: 1_026n, last: 1_026n })
    })
  )
})

describe("faults are data", () => {
  const roundTrip = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: S["Type"]) => {
    const json = Schema.fromJsonString(Schema.toCodecJson(schema))
    const text = Schema.encodeSync(json)(value)
    assert.deepStrictEqual(Schema.decodeUnknownSync(json)(text), value)
  }

  it("each kind comes back from its JSON as it was", () => {
    roundTrip(FaultPlan, [
      { afterMillis: 5, fault: { _tag: "Partition", left: ["a"], right: ["b", "c"] } },
      { afterMillis: 0, fault: { _tag: "Links", faults: faultlessLink, from: null, to: "a" } },
      { afterMillis: 9, fault: { _tag: "Heal" } }
    ])
    roundTrip(DiskFault, { _tag: "FlipBit", file: "journal", key: "a/0", byte: 3, bit: 7 })
    roundTrip(KeyValueFault, { _tag: "Overwrite", key: "k", value: Uint8Array.of(0, 255) })
    roundTrip(StreamFault, { _tag: "Remove", stream: "orders", position: 2n ** 70n })
  })
})
