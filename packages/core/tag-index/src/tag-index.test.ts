import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  after,
  at,
  atTag,
  compareRecords,
  makeTagIndex,
  PartitionKey,
  prefixEnd,
  START,
  TAG_BYTES_MAX
} from "./index.ts"
import type { IndexRecord, Page, TagIndex } from "./index.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const keyOf = (number: number): PartitionKey =>
  PartitionKey.make(number.toString(16).padStart(64, "0"))

/** Few tags, some of them prefixes of others or with bytes at the edges, and few keys. */
const anyTag = fc.constantFrom(
  ...["", "a", "ab", "abc", "b"].map(bytes),
  Uint8Array.of(0),
  Uint8Array.of(0, 0),
  Uint8Array.of(0x61, 0xff),
  Uint8Array.of(0xff, 0xff)
)
const anyKey = fc
  .tuple(fc.integer({ min: 0, max: 9 }), fc.boolean())
  .map(([number, isHigh]) =>
    isHigh ? PartitionKey.make(`${number.toString(16).repeat(8)}${"0".repeat(56)}`) : keyOf(number)
  )
const anyRecord = fc.record({ tag: anyTag, key: anyKey })

/** The model: the records in a sorted array without repeats. */
const model = (records: ReadonlyArray<IndexRecord>): Array<IndexRecord> =>
  records
    .toSorted(compareRecords)
    .filter((record, index, all) => index === 0 || compareRecords(all[index - 1]!, record) !== 0)

const walk = (index: TagIndex, limit: number): ReadonlyArray<IndexRecord> => {
  const seen: Array<IndexRecord> = []
  let page: Page = index.page({ cursor: START, limit })
  seen.push(...page.records)
  while (page.next !== undefined) {
    page = index.page({ cursor: page.next, limit })
    seen.push(...page.records)
  }
  return seen
}

type Change =
  | { readonly _tag: "Insert"; readonly record: IndexRecord }
  | { readonly _tag: "Remove"; readonly record: IndexRecord }
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ _tag: fc.constant("Insert" as const), record: anyRecord }),
  fc.record({ _tag: fc.constant("Remove" as const), record: anyRecord })
)

describe("TagIndex", () => {
  it("peer-P8: holds what a sorted list would, after any changes", () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 80 }), (changes) => {
        const index = makeTagIndex()
        let expected: Array<IndexRecord> = []
        for (const { _tag, record } of changes) {
          const held = expected.some((other) => compareRecords(other, record) === 0)
          if (_tag === "Insert") {
            expect(index.insert(record)).toBe(!held)
            expected = model([...expected, record])
          } else {
            expect(index.remove(record)).toBe(held)
            expected = expected.filter((other) => compareRecords(other, record) !== 0)
          }
        }
        expect(index.invariants()).toEqual([])
        expect(index.size()).toBe(expected.length)
        expect(walk(index, 3)).toEqual(expected)
      })
    )
  })

  it("finds the next record at a place, and strictly after it", () => {
    fc.assert(
      fc.property(fc.array(anyRecord), anyRecord, (records, probe) => {
        const index = makeTagIndex(records)
        const sorted = model(records)
        expect(index.next(at(probe))).toEqual(sorted.find((r) => compareRecords(r, probe) >= 0))
        expect(index.next(after(probe))).toEqual(sorted.find((r) => compareRecords(r, probe) > 0))
        expect(index.has(probe)).toBe(sorted.some((r) => compareRecords(r, probe) === 0))
      })
    )
  })

  it("answers a larger tag when the tag asked for has no more records", () => {
    const index = makeTagIndex([{ tag: bytes("b"), key: keyOf(1) }])
    expect(index.next(atTag(bytes("a")))).toEqual({ tag: bytes("b"), key: keyOf(1) })
    expect(index.next(after({ tag: bytes("b"), key: keyOf(1) }))).toBeUndefined()
  })

  it("peer-B7: pages of one record ascend strictly while records with like tags come and go", () => {
    fc.assert(
      fc.property(
        fc.array(anyRecord),
        fc.array(anyChange, { maxLength: 60 }),
        (records, changes) => {
          const index = makeTagIndex(records)
          const touched = changes.map(({ record }) => record)
          const stable = model(records).filter(
            (r) => !touched.some((t) => compareRecords(t, r) === 0)
          )
          const seen: Array<IndexRecord> = []
          const queue = [...changes]
          let page: Page = { records: [], next: START }
          while (page.next !== undefined) {
            page = index.page({ cursor: page.next, limit: 1 })
            seen.push(...page.records)
            const change = queue.shift()
            if (change?._tag === "Insert") index.insert(change.record)
            if (change?._tag === "Remove") index.remove(change.record)
          }
          expect(model(seen)).toEqual(seen)
          for (const record of stable) expect(seen).toContainEqual(record)
        }
      )
    )
  })

  it("shows only accepted keys, and goes on where it stopped looking", () => {
    const index = makeTagIndex(
      Array.from({ length: 50 }, (_, number) => ({ tag: bytes("t"), key: keyOf(number) }))
    )
    const accepts = (key: PartitionKey) => key.endsWith("5")
    const first = index.page({ cursor: START, limit: 2, accepts, examine: 10 })
    expect(first.records.map(({ key }) => key)).toEqual([keyOf(0x5)])
    expect(first.next).toEqual(after({ tag: bytes("t"), key: keyOf(9) }))
    const second = index.page({ cursor: first.next!, limit: 10, accepts })
    expect(second.records.map(({ key }) => key)).toEqual([keyOf(0x15), keyOf(0x25)])
    expect(second.next).toBeUndefined()
  })

  it("stops before the end of a prefix", () => {
    fc.assert(
      fc.property(fc.array(anyRecord), anyTag, (records, prefix) => {
        const index = makeTagIndex(records)
        const page = index.page({ cursor: atTag(prefix), limit: 100, until: prefixEnd(prefix) })
        const expected = model(records).filter(({ tag }) =>
          prefix.every((byte, place) => tag[place] === byte)
        )
        expect(page.next).toBeUndefined()
        expect(page.records).toEqual(expected)
      })
    )
  })

  it("replaces the tags of a partition", () => {
    const index = makeTagIndex()
    const key = keyOf(1)
    index.replace({ key, before: [], now: [bytes("a"), bytes("b"), bytes("a")] })
    index.replace({ key, before: [bytes("a"), bytes("b")], now: [bytes("b"), bytes("c")] })
    expect(walk(index, 10).map(({ tag }) => new TextDecoder().decode(tag))).toEqual(["b", "c"])
  })

  it("cuts a page's limit to what is possible", () => {
    const index = makeTagIndex([1, 2, 3].map((n) => ({ tag: bytes("t"), key: keyOf(n) })))
    expect(index.page({ cursor: START, limit: 0 }).records.length).toBe(1)
    expect(index.page({ cursor: START, limit: 1e9 }).records.length).toBe(3)
  })

  it("treats a tag above the limit as a programming error", () => {
    const record = { tag: new Uint8Array(TAG_BYTES_MAX + 1), key: keyOf(1) }
    expect(() => makeTagIndex([record])).toThrow("513 bytes")
  })

  it("keeps its order through splits and joins of leaves", () => {
    const index = makeTagIndex()
    const count = 3000
    const order = Array.from({ length: count }, (_, number) => (number * 1237) % count)
    const record = (number: number): IndexRecord => ({
      tag: bytes(`t${number % 7}`),
      key: PartitionKey.make((number * 7919).toString(16).padStart(8, "0").padEnd(64, "0"))
    })
    for (const number of order) index.insert(record(number))
    expect(index.invariants()).toEqual([])
    expect(walk(index, 100)).toEqual(model(order.map(record)))
    const gone = order.filter((number) => number % 10 !== 3)
    for (const number of gone) {
      expect(index.remove(record(number))).toBe(true)
      if (number % 500 === 0) expect(index.invariants()).toEqual([])
    }
    expect(index.invariants()).toEqual([])
    expect(walk(index, 7)).toEqual(model(order.filter((n) => n % 10 === 3).map(record)))
  })
})
