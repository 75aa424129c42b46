/**
 * The contract of the RecordSource port, as tests that any adapter runs. The numbers in the test
 * names are those of the port's module comment.
 */
import { assert, describe, it } from "@effect/vitest"
import { type NewRecord, RecordSource } from "@holdfast/records"
import { Context, Effect, Fiber, Layer, Option } from "effect"
import { describeRecordGaps } from "./record-gaps.ts"
import type { RecordSourceContract, SourceStorage } from "./record-source-contract.ts"
import { numbered, openShard, readAll, showRecords, textOf } from "./records.ts"

/** Runs the RecordSource contract against an adapter. */
export const describeRecordSourceContract = <Storage extends SourceStorage>(
  contract: RecordSourceContract<Storage>
): void => {
  describe(`RecordSource contract: ${contract.name}`, () => {
    describeReading(contract)
    describeBounds(contract)
    if (contract.grows) describeGrowth(contract)
    describeRecordGaps(contract)
  })
}

const describeReading = <Storage extends SourceStorage>(
  contract: RecordSourceContract<Storage>
): void => {
  it.live("every record comes back as it was put", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
      const put: ReadonlyArray<NewRecord> = [
        {
          timestamp: 1_700_000_000_123_456_789n,
          subject: textOf("orders.new"),
          headers: [
            [textOf("Kind"), textOf("first")],
            [textOf("Kind"), textOf("second")]
          ],
          data: bytes
        },
        {
          timestamp: 1_700_000_000_123_456_790n,
          subject: textOf("orders.old"),
          headers: [],
          data: new Uint8Array()
        }
      ]
      yield* contract.put(storage, put)
      const { records } = yield* Effect.scoped(readAll(storage, Option.none(), put.length))
      const kept = contract.keeps ?? ["timestamp", "subject", "headers"]
      const shown = (record: NewRecord) => showRecords(record, kept)
      assert.deepStrictEqual(records.map(shown), put.map(shown))
    })
  )

  it.live("1: positions strictly increase, and name the same records when read again", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 25))
      const read = Effect.scoped(readAll(storage, Option.none(), 25))
      const first = yield* read
      for (const [index, record] of first.records.entries()) {
        const before = first.records[index - 1]?.position ?? -1n
        assert.isTrue(record.position > before, `${before} then ${record.position}`)
      }
      const second = yield* read
      assert.deepStrictEqual(second.records, first.records)
    })
  )

  it.live("2: reading after a position yields exactly the records above it", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 12))
      const all = (yield* Effect.scoped(readAll(storage, Option.none(), 12))).records
      for (const kept of [0, 5, 10]) {
        const after = Option.fromUndefinedOr(all[kept]?.position)
        const rest = yield* Effect.scoped(readAll(storage, after, 11 - kept))
        assert.deepStrictEqual(rest.records, all.slice(kept + 1))
        assert.deepStrictEqual(rest.gaps, [])
      }
    })
  )

  it.live("4: what was read and not acknowledged comes again; acknowledged, the rest comes", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 6))
      const first = yield* Effect.scoped(readAll(storage, Option.none(), 6))
      const again = yield* Effect.scoped(readAll(storage, Option.none(), 6))
      assert.deepStrictEqual(again.records, first.records)
      const watermark = first.records[2]?.position ?? 0n
      yield* Effect.scoped(
        Effect.flatMap(openShard(storage, Option.none()), (reader) =>
          Effect.andThen(
            reader.next({ maxRecords: 6, maxBytes: 65_536, wait: "2 seconds" }),
            reader.acknowledge(watermark)
          )
        )
      )
      const rest = yield* Effect.scoped(readAll(storage, Option.some(watermark), 3))
      assert.deepStrictEqual(rest.records, first.records.slice(3))
    })
  )

  it.live("the shard is listed, and opening one that does not exist is not-found", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 1))
      const source = Context.get(yield* Layer.build(Layer.fresh(storage.layer)), RecordSource)
      const shards = yield* source.shards
      assert.include(
        shards.map(({ shard }) => shard),
        storage.shard
      )
      const error = yield* Effect.flip(
        source.open({ shard: "no-such-shard", after: Option.none() })
      )
      assert.strictEqual(error.code, "not-found")
    })
  )
}

const describeBounds = <Storage extends SourceStorage>(
  contract: RecordSourceContract<Storage>
): void => {
  it.live("3: `next` keeps to its number of records and of bytes, and never skips", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const put = numbered(0, 20).map((record) => ({ ...record, data: new Uint8Array(1_000) }))
      yield* contract.put(storage, put)
      const reader = yield* openShard(storage, Option.none())
      const positions: Array<bigint> = []
      const bounds = [
        { maxRecords: 3, maxBytes: 1_000_000, most: 3 },
        { maxRecords: 100, maxBytes: 4_500, most: 4 }
      ]
      for (let round = 0; positions.length < 20; round += 1) {
        assert.isBelow(round, 60)
        const bound = bounds[round % 2]
        if (bound === undefined) return
        const batch = yield* reader.next({ ...bound, wait: "2 seconds" })
        assert.isAtMost(batch.records.length, bound.most)
        positions.push(...batch.records.map(({ position }) => position))
      }
      const all = yield* Effect.scoped(readAll(storage, Option.none(), 20))
      assert.deepStrictEqual(
        positions,
        all.records.map(({ position }) => position)
      )
    })
  )

  it.live("3: the first record is returned whatever its size", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const large = numbered(0, 2).map((record) => ({ ...record, data: new Uint8Array(50_000) }))
      yield* contract.put(storage, large)
      const reader = yield* openShard(storage, Option.none())
      const batch = yield* reader.next({ maxRecords: 10, maxBytes: 1, wait: "2 seconds" })
      assert.strictEqual(batch.records.length, 1)
    })
  )

  it.live("`newest` is the latest position or unknown, never below what was read", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 8))
      const reader = yield* openShard(storage, Option.none())
      const batch = yield* reader.next({ maxRecords: 2, maxBytes: 65_536, wait: "2 seconds" })
      const all = yield* Effect.scoped(readAll(storage, Option.none(), 8))
      const last = all.records.at(-1)?.position ?? 0n
      const newest = Option.getOrElse(batch.newest, () => last)
      assert.isTrue(newest >= (batch.records.at(-1)?.position ?? 0n) && newest <= last)
    })
  )
}

const describeGrowth = <Storage extends SourceStorage>(
  contract: RecordSourceContract<Storage>
): void => {
  it.live("3: `next` returns within its wait, with nothing when there is nothing", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 1))
      const { records } = yield* Effect.scoped(readAll(storage, Option.none(), 1))
      const after = Option.fromUndefinedOr(records[0]?.position)
      const reader = yield* openShard(storage, after)
      const batch = yield* reader
        .next({ maxRecords: 5, maxBytes: 65_536, wait: "100 millis" })
        .pipe(Effect.timeout("10 seconds"))
      assert.deepStrictEqual([batch.records, batch.gaps, batch.endOfShard], [[], [], false])
    })
  )

  it.live("3: a record that arrives during the wait is returned without waiting it out", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 1))
      const reader = yield* openShard(storage, Option.none())
      yield* reader.next({ maxRecords: 5, maxBytes: 65_536, wait: "2 seconds" })
      const waiting = yield* Effect.forkChild(
        reader.next({ maxRecords: 5, maxBytes: 65_536, wait: "1 hour" })
      )
      yield* Effect.sleep("50 millis")
      yield* contract.put(storage, numbered(1, 1))
      const batch = yield* Fiber.join(waiting).pipe(Effect.timeout("10 seconds"))
      assert.strictEqual(batch.records.length, 1)
    })
  )

  it.live("2: records that are put while reading follow, none twice, none skipped", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 1))
      const writing = yield* Effect.forkChild(
        Effect.forEach([1, 6, 11, 16], (from) => contract.put(storage, numbered(from, 5)))
      )
      const { records } = yield* readAll(storage, Option.none(), 21)
      yield* Fiber.join(writing)
      const texts = records.map(({ data }) => new TextDecoder().decode(data))
      assert.deepStrictEqual(
        texts,
        Array.from({ length: 21 }, (_, index) => `record ${index}`)
      )
    })
  )
}
