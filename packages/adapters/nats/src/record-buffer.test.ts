import { assert, describe, it } from "@effect/vitest"
import type { Gap, SourceRecord } from "@holdfast/records"
import { Option } from "effect"
import fc from "fast-check"
import { makeRecordBuffer, recordBytes } from "./record-buffer.ts"
import { makeShardCursor } from "./shard-cursor.ts"

const record = (position: number, size: number): SourceRecord => ({
  position: BigInt(position),
  timestamp: 0n,
  subject: new Uint8Array(1),
  headers: [],
  data: new Uint8Array(size)
})

/** What a server delivers: ascending positions with some missing, some repeated after a restart. */
const deliveries = fc
  .array(fc.record({ step: fc.integer({ min: 1, max: 3 }), back: fc.nat({ max: 4 }) }), {
    maxLength: 60
  })
  .map((steps) => {
    const all: Array<number> = []
    let at = 0
    for (const { step, back } of steps) {
      at += step
      all.push(at)
      if (back === 4) all.push(...all.slice(-3))
    }
    return all
  })
const takes = fc.array(
  fc.record({ maxRecords: fc.integer({ min: 1, max: 9 }), maxBytes: fc.nat({ max: 40 }) }),
  { minLength: 1, maxLength: 20 }
)

describe("what a reader holds ahead", () => {
  it("comes out once, in order, within bounds, with exactly the missing positions as gaps", () => {
    fc.assert(
      fc.property(deliveries, takes, fc.nat({ max: 15 }), (positions, bounds, size) => {
        const cursor = makeShardCursor({ after: 0n, isFiltered: false })
        const buffer = makeRecordBuffer()
        const records: Array<SourceRecord> = []
        const gaps: Array<Gap> = []
        const take = (bound: { readonly maxRecords: number; readonly maxBytes: number }) => {
          const taken = buffer.take(bound)
          const bytes = taken.records.reduce((sum, each) => sum + recordBytes(each), 0)
          assert.isAtMost(taken.records.length, bound.maxRecords)
          assert.isTrue(taken.records.length <= 1 || bytes <= bound.maxBytes)
          records.push(...taken.records)
          gaps.push(...taken.gaps)
          const behind = gaps.at(-1)
          const last = records.at(-1)
          if (behind !== undefined && last !== undefined && !buffer.isEmpty()) {
            assert.isTrue(behind.from <= last.position + 1n, "a gap ahead of its records")
          }
        }
        for (const [index, position] of positions.entries()) {
          const { isNew, gap } = cursor.advance(position, 0)
          if (gap !== undefined) buffer.pushGap(gap)
          if (isNew) buffer.push(record(position, size))
          const bound = bounds[index % bounds.length]
          if (index % 3 === 0 && bound !== undefined) take(bound)
        }
        while (!buffer.isEmpty()) take({ maxRecords: 100, maxBytes: 1_000_000 })
        const distinct = [...new Set(positions)]
        assert.deepStrictEqual(
          records.map((each) => Number(each.position)),
          distinct
        )
        const missing = gaps.flatMap(({ from, to }) =>
          Array.from({ length: Number(to - from) + 1 }, (_, index) => Number(from) + index)
        )
        const highest = distinct.at(-1) ?? 0
        const expected = Array.from({ length: highest }, (_, index) => index + 1).filter(
          (each) => !distinct.includes(each)
        )
        assert.deepStrictEqual(missing, expected)
        assert.deepStrictEqual([buffer.records(), buffer.bytes()], [0, 0])
      })
    )
  })

  it("counts bytes of subject, headers and data", () => {
    const buffer = makeRecordBuffer()
    const headers = [[new Uint8Array(2), new Uint8Array(3)]] as const
    buffer.push({ ...record(1, 10), headers })
    assert.strictEqual(buffer.bytes(), 16)
  })
})

describe("a shard's cursor", () => {
  const facts = (first: number, last: number) => ({
    first: BigInt(first),
    last: BigInt(last),
    created: ""
  })

  it("takes what fell below the stream's oldest for a gap, once", () => {
    const cursor = makeShardCursor({ after: 4n, isFiltered: false })
    assert.isUndefined(cursor.inspect(facts(5, 9)))
    assert.deepStrictEqual(cursor.inspect(facts(8, 9)), { from: 5n, to: 7n })
    assert.isUndefined(cursor.inspect(facts(8, 9)))
    assert.deepStrictEqual(cursor.advance(8, 1), { isNew: true, gap: undefined })
    assert.deepStrictEqual(cursor.inspect(facts(10, 9)), { from: 9n, to: 9n })
    assert.strictEqual(cursor.position(), 9n)
  })

  it("with a filter takes only that for a gap, and knows the newest only at the end", () => {
    const cursor = makeShardCursor({ after: 0n, isFiltered: true })
    assert.deepStrictEqual(cursor.newest(), Option.none())
    assert.deepStrictEqual(cursor.inspect(facts(3, 20)), { from: 1n, to: 2n })
    assert.deepStrictEqual(cursor.advance(7, 1), { isNew: true, gap: undefined })
    assert.deepStrictEqual(cursor.newest(), Option.none())
    assert.deepStrictEqual(cursor.advance(11, 0), { isNew: true, gap: undefined })
    assert.deepStrictEqual(cursor.newest(), Option.some(11n))
  })

  it("without one knows the newest from the stream and from what is pending", () => {
    const cursor = makeShardCursor({ after: 0n, isFiltered: false })
    assert.deepStrictEqual(cursor.newest(), Option.none())
    cursor.inspect(facts(1, 20))
    assert.deepStrictEqual(cursor.newest(), Option.some(20n))
    cursor.advance(1, 24)
    assert.deepStrictEqual(cursor.newest(), Option.some(25n))
  })
})
