/** The RecordSource contract's gaps and ends, for adapters whose source can forget or end. */
import { assert, it } from "@effect/vitest"
import type { SourceRecord } from "@holdfast/records"
import { Effect, Option } from "effect"
import type { RecordSourceContract, SourceStorage } from "./record-source-contract.ts"
import { numbered, openShard, readAll, readUntil } from "./records.ts"

/** Promise 2: none skipped without a gap that says so. */
export const describeRecordGaps = <Storage extends SourceStorage>(
  contract: RecordSourceContract<Storage>
): void => {
  describePurge(contract)
  describeRemoval(contract)
  describeEnd(contract)
}

const describePurge = <Storage extends SourceStorage>(
  contract: RecordSourceContract<Storage>
): void => {
  const { purge } = contract
  if (purge === undefined) return

  it.live("2: what was purged before it was read is named as one gap", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 10))
      const all = (yield* Effect.scoped(readAll(storage, Option.none(), 10))).records
      const position = (index: number) => all[index]?.position ?? 0n
      yield* purge(storage, position(5))
      const rest = yield* Effect.scoped(readAll(storage, Option.some(position(2)), 4))
      assert.deepStrictEqual(rest.records, all.slice(6))
      assert.deepStrictEqual(rest.gaps, [{ from: position(2) + 1n, to: position(6) - 1n }])
    })
  )

  it.live("2: opened without a position, reading begins at the oldest record, without a gap", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 6))
      const all = (yield* Effect.scoped(readAll(storage, Option.none(), 6))).records
      yield* purge(storage, all[3]?.position ?? 0n)
      const rest = yield* Effect.scoped(readAll(storage, Option.none(), 2))
      assert.deepStrictEqual(rest, { records: all.slice(4), gaps: [] })
    })
  )

  it.live("2: records purged under an open reader are named as a gap too", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 10))
      const all = (yield* Effect.scoped(readAll(storage, Option.none(), 10))).records
      const position = (index: number) => all[index]?.position ?? 0n
      const reader = yield* openShard(storage, Option.none())
      const first = yield* reader.next({ maxRecords: 2, maxBytes: 65_536, wait: "2 seconds" })
      yield* purge(storage, position(6))
      // What was fetched ahead may still come; nothing may be missing without a word.
      const records: Array<SourceRecord> = [...first.records]
      let missing = 0
      for (let round = 0; records.length + missing < 10 && round < 30; round += 1) {
        const rest = yield* readUntil(reader, 1)
        records.push(...rest.records)
        for (const { from, to } of rest.gaps) missing += Number(to - from) + 1
      }
      assert.strictEqual(records.length + missing, 10)
      assert.deepStrictEqual(records.slice(-3), all.slice(7))
    })
  )
}

const describeRemoval = <Storage extends SourceStorage>(
  contract: RecordSourceContract<Storage>
): void => {
  const { remove } = contract
  if (remove === undefined) return
  it.live(
    "2: a removed record in the middle is named as a gap, in the batch where it would be",
    () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        yield* contract.put(storage, numbered(0, 6))
        const all = (yield* Effect.scoped(readAll(storage, Option.none(), 6))).records
        const gone = all[3]?.position ?? 0n
        yield* remove(storage, gone)
        const rest = yield* Effect.scoped(readAll(storage, Option.none(), 5))
        assert.deepStrictEqual(rest.records, all.toSpliced(3, 1))
        assert.deepStrictEqual(rest.gaps, [{ from: gone, to: gone }])
      })
  )

  it.live("2: a gap at the end of what there is, is told once", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 3))
      const all = (yield* Effect.scoped(readAll(storage, Option.none(), 3))).records
      const gone = all[2]?.position ?? 0n
      yield* remove(storage, gone)
      const reader = yield* openShard(storage, Option.none())
      const first = yield* readUntil(reader, 2)
      const bounds = { maxRecords: 5, maxBytes: 65_536, wait: "200 millis" } as const
      const quiet = yield* Effect.forEach([1, 2], () => reader.next(bounds))
      yield* contract.put(storage, numbered(3, 1))
      const second = yield* readUntil(reader, 1)
      const gaps = [...first.gaps, ...quiet.flatMap((batch) => batch.gaps), ...second.gaps]
      assert.deepStrictEqual(gaps, [{ from: gone, to: gone }])
    })
  )
}

const describeEnd = <Storage extends SourceStorage>(
  contract: RecordSourceContract<Storage>
): void => {
  const { end } = contract
  if (end === undefined) return
  it.live("a shard that ended says so with its last records or after them, for every reader", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* contract.put(storage, numbered(0, 3))
      yield* end(storage)
      const reader = yield* openShard(storage, Option.none())
      let records = 0
      let isEnded = false
      for (let round = 0; round < 10 && !isEnded; round += 1) {
        const batch = yield* reader.next({ maxRecords: 2, maxBytes: 65_536, wait: "2 seconds" })
        records += batch.records.length
        isEnded = batch.endOfShard
      }
      assert.deepStrictEqual([records, isEnded], [3, true])
      const after = yield* reader.next({ maxRecords: 2, maxBytes: 65_536, wait: "2 seconds" })
      assert.deepStrictEqual([after.records.length, after.endOfShard], [0, true])
    })
  )
}
