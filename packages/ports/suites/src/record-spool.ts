/**
 * The contract of the RecordSpool port, as tests that any adapter runs. The numbers in the test
 * names are those of the port's module comment.
 */
import { assert, describe, it } from "@effect/vitest"
import { RecordSource, RecordSpool } from "@holdfast/records"
import type { Scope } from "effect"
import { Context, Effect, Layer, Option } from "effect"
import { numbered, readUntil } from "./records.ts"

/** One spool's storage, which can be opened any number of times. */
export interface SpoolStorage {
  /** Opens the spool and the source that reads it on this storage. */
  readonly layer: Layer.Layer<RecordSpool | RecordSource, unknown>
}

/** How to reach the adapter under test, and how to harm its storage. */
export interface RecordSpoolContract<Storage extends SpoolStorage> {
  readonly name: string
  /** Fresh, empty storage for one test. */
  readonly storage: Effect.Effect<Storage, unknown, Scope.Scope>
  /** Storage that refuses a few megabytes. */
  readonly smallStorage?: Effect.Effect<Storage, unknown, Scope.Scope>
}

/** Runs the RecordSpool contract against an adapter. */
export const describeRecordSpoolContract = <Storage extends SpoolStorage>(
  contract: RecordSpoolContract<Storage>
): void => {
  describe(`RecordSpool contract: ${contract.name}`, () => {
    describeAppends(contract)
    describeRepeats(contract)
    describePurges(contract)
    describeRefusals(contract)
  })
}

const withSpool = <A, E>(
  storage: SpoolStorage,
  use: (
    spool: RecordSpool["Service"],
    source: RecordSource["Service"]
  ) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.scoped(
    Effect.flatMap(Layer.build(Layer.fresh(storage.layer)), (context) =>
      use(Context.get(context, RecordSpool), Context.get(context, RecordSource))
    )
  )

const stored = (storage: SpoolStorage, count: number, stream = "orders") =>
  withSpool(storage, (_, source) =>
    Effect.gen(function* () {
      const { shard } = (yield* source.shards).find((each) => each.stream === stream) ?? {}
      assert.isDefined(shard, `${stream} is not listed as a shard`)
      const reader = yield* source.open({ shard: shard ?? "", after: Option.none() })
      const { records } = yield* readUntil(reader, count)
      return records.map(({ position, data }) => `${position} ${new TextDecoder().decode(data)}`)
    })
  )

const describeAppends = <Storage extends SpoolStorage>(
  contract: RecordSpoolContract<Storage>
): void => {
  it.live("2: positions of a stream are dense and start at 1, over a reopen too", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const append = (appendId: string, from: number, count: number) =>
        withSpool(storage, (spool) =>
          spool.append({ stream: "orders", appendId, records: numbered(from, count) })
        )
      assert.deepStrictEqual(yield* append("a", 0, 3), { first: 1n, last: 3n })
      assert.deepStrictEqual(yield* append("b", 3, 1), { first: 4n, last: 4n })
      assert.deepStrictEqual(yield* stored(storage, 4), [
        "1 record 0",
        "2 record 1",
        "3 record 2",
        "4 record 3"
      ])
    })
  )

  it.live("2: appends issued together get ranges that do not overlap and leave no hole", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const appends = Array.from({ length: 16 }, (_, index) => index)
      const ranges = yield* withSpool(storage, (spool) =>
        Effect.forEach(
          appends,
          (index) =>
            spool.append({
              stream: "orders",
              appendId: `append-${index}`,
              records: numbered(3 * index, 3)
            }),
          { concurrency: "unbounded" }
        )
      )
      const firsts = ranges.map(({ first }) => Number(first)).sort((left, right) => left - right)
      assert.deepStrictEqual(
        firsts,
        appends.map((index) => 3 * index + 1)
      )
      const records = yield* stored(storage, 48)
      for (const [index, { first }] of ranges.entries()) {
        const from = Number(first) - 1
        assert.strictEqual(records[from], `${first} record ${3 * index}`)
      }
    })
  )

  it.live("1: what was answered is there after a reopen, and `status` counts it", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withSpool(storage, (spool) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* spool.status, [])
          const records = numbered(0, 2)
          yield* spool.append({ stream: "orders", appendId: "a", records })
          yield* spool.append({ stream: "other", appendId: "a", records: numbered(0, 1) })
        })
      )
      const status = yield* withSpool(storage, (spool) => spool.status)
      const shown = status.map(({ stream, first, last }) => `${stream} ${first}..${last}`)
      assert.deepStrictEqual(shown.sort(), ["orders 1..2", "other 1..1"])
      for (const { bytes } of status) assert.isAtLeast(bytes, "record 0".length)
    })
  )
}

const describeRepeats = <Storage extends SpoolStorage>(
  contract: RecordSpoolContract<Storage>
): void => {
  it.live("3: a repeat of an append adds nothing and answers the same positions", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const append = (appendId: string, from: number) =>
        withSpool(storage, (spool) =>
          spool.append({ stream: "orders", appendId, records: numbered(from, 2) })
        )
      const first = yield* append("a", 0)
      yield* append("b", 2)
      assert.deepStrictEqual(yield* append("a", 0), first)
      assert.strictEqual((yield* stored(storage, 4)).length, 4)
      const [status] = yield* withSpool(storage, (spool) => spool.status)
      assert.strictEqual(status?.last, 4n)
    })
  )

  it.live("3: the same append at the same time several times adds its records once", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const ranges = yield* withSpool(storage, (spool) => {
        const append = spool.append({ stream: "orders", appendId: "a", records: numbered(0, 2) })
        return Effect.all([append, append, append], { concurrency: "unbounded" })
      })
      assert.deepStrictEqual(
        ranges,
        [1, 2, 3].map(() => ({ first: 1n, last: 2n }))
      )
      assert.deepStrictEqual(yield* stored(storage, 2), ["1 record 0", "2 record 1"])
    })
  )

  it.live("3: an append's id counts within its stream", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const ranges = yield* withSpool(storage, (spool) =>
        Effect.forEach(["orders", "other"], (stream) =>
          spool.append({ stream, appendId: "a", records: numbered(0, 1) })
        )
      )
      assert.deepStrictEqual(
        ranges,
        [1, 2].map(() => ({ first: 1n, last: 1n }))
      )
    })
  )

  it.live("3: the latest 1,024 ids of a stream are known, over a reopen too", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const append = (spool: RecordSpool["Service"], index: number) =>
        spool.append({ stream: "orders", appendId: `append-${index}`, records: numbered(index, 1) })
      const indexes = Array.from({ length: 1_024 }, (_, index) => index)
      const rangesOf = (spool: RecordSpool["Service"]) =>
        Effect.forEach(indexes, (index) => append(spool, index), { concurrency: 64 })
      const first = yield* withSpool(storage, rangesOf)
      const again = yield* withSpool(storage, rangesOf)
      assert.deepStrictEqual(again, first)
    })
  )
}

const describePurges = <Storage extends SpoolStorage>(
  contract: RecordSpoolContract<Storage>
): void => {
  it.live("2: purged positions are never used again, even when nothing is left", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withSpool(storage, (spool) =>
        Effect.gen(function* () {
          yield* spool.append({ stream: "orders", appendId: "a", records: numbered(0, 5) })
          yield* spool.purge({ stream: "orders", upTo: 3n })
          const [part] = yield* spool.status
          assert.deepStrictEqual([part?.first, part?.last], [4n, 5n])
          yield* spool.purge({ stream: "orders", upTo: 5n })
        })
      )
      yield* withSpool(storage, (spool) =>
        Effect.gen(function* () {
          const [empty] = yield* spool.status
          assert.deepStrictEqual([empty?.first, empty?.last], [6n, 5n])
          const added = yield* spool.append({
            stream: "orders",
            appendId: "b",
            records: numbered(5, 1)
          })
          assert.deepStrictEqual(added, { first: 6n, last: 6n })
        })
      )
      assert.deepStrictEqual(yield* stored(storage, 1), ["6 record 5"])
    })
  )

  it.live("purging a stream that does not exist is not-found", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const error = yield* withSpool(storage, (spool) =>
        Effect.flip(spool.purge({ stream: "orders", upTo: 1n }))
      )
      assert.strictEqual(error.code, "not-found")
    })
  )
}

const describeRefusals = <Storage extends SpoolStorage>(
  contract: RecordSpoolContract<Storage>
): void => {
  const refused = [
    { what: "no records", stream: "orders", appendId: "a", count: 0 },
    { what: "an empty stream name", stream: "", appendId: "a", count: 1 },
    { what: "a stream name of 256 bytes", stream: "x".repeat(256), appendId: "a", count: 1 },
    { what: "an empty append id", stream: "orders", appendId: "", count: 1 },
    { what: "an append id of 65 bytes", stream: "orders", appendId: "x".repeat(65), count: 1 }
  ]
  for (const { what, stream, appendId, count } of refused) {
    it.live(`an append with ${what} is invalid`, () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        const error = yield* withSpool(storage, (spool) =>
          Effect.flip(spool.append({ stream, appendId, records: numbered(0, count) }))
        )
        assert.strictEqual(error.code, "invalid")
      })
    )
  }

  const { smallStorage } = contract
  if (smallStorage === undefined) return
  it.live("an append that does not fit is full and adds nothing", () =>
    Effect.gen(function* () {
      const storage = yield* smallStorage
      const large = numbered(1, 8).map((record) => ({ ...record, data: new Uint8Array(524_288) }))
      yield* withSpool(storage, (spool) =>
        Effect.gen(function* () {
          yield* spool.append({ stream: "orders", appendId: "a", records: numbered(0, 1) })
          const error = yield* Effect.flip(
            spool.append({ stream: "orders", appendId: "b", records: large })
          )
          assert.strictEqual(error.code, "full")
          yield* spool.append({ stream: "orders", appendId: "c", records: numbered(1, 1) })
        })
      )
      assert.deepStrictEqual(yield* stored(storage, 2), ["1 record 0", "2 record 1"])
    })
  )
}
