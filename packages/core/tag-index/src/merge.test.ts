import { Result, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  compareRecords,
  Cursor,
  hasPrefix,
  makeTagIndex,
  mergePages,
  PartitionKey,
  prefixEnd,
  START
} from "./index.ts"
import type { IndexRecord, Page, TagIndex } from "./index.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const keyOf = (number: number): PartitionKey =>
  PartitionKey.make(number.toString(16).padStart(64, "0"))
const record = (name: string): IndexRecord => ({ tag: bytes(name), key: keyOf(1) })
const page = (names: string, cutAfter?: string): Page => ({
  records: names.split("").map(record),
  next: cutAfter === undefined ? undefined : { ...record(cutAfter), bound: "after" }
})
const names = (merged: Page): string =>
  merged.records.map(({ tag }) => new TextDecoder().decode(tag)).join("")

describe("mergePages", () => {
  const traces: ReadonlyArray<
    readonly [
      why: string,
      pages: ReadonlyArray<Page>,
      limit: number,
      emitted: string,
      cut: string | undefined
    ]
  > = [
    ["joins complete pages", [page("ac"), page("bd")], 9, "abcd", undefined],
    ["shows a record of two holders once", [page("abc"), page("bcd")], 9, "abcd", undefined],
    ["stops at the lowest cut", [page("abcd", "d"), page("befgh", "h")], 9, "abcd", "d"],
    ["waits for a holder that shows nothing yet", [page("", "b"), page("acd")], 9, "a", "b"],
    ["stops at the limit before the cut", [page("abcd", "d"), page("bef")], 2, "ab", "b"],
    ["stops at the limit when nothing was cut", [page("abc"), page("d")], 3, "abc", "c"],
    ["has no more at the limit when nothing is left", [page("ab"), page("c")], 3, "abc", undefined],
    ["goes on at the cut when the limit is just met", [page("ab", "b"), page("c")], 2, "ab", "b"],
    ["answers nothing of no pages", [], 5, "", undefined]
  ]
  for (const [why, pages, limit, emitted, cut] of traces) {
    it(why, () => {
      const merged = mergePages({ pages, limit })
      expect(names(merged)).toBe(emitted)
      expect(merged.next).toEqual(
        cut === undefined ? undefined : { ...record(cut), bound: "after" }
      )
    })
  }

  it("peer-P8 peer-B6: a walk over holders is the sorted scan of all, whoever holds what", () => {
    const anyHolding = fc
      .array(
        fc.record({
          tag: fc.constantFrom(...["a", "aa", "ab", "b", "c"].map(bytes)),
          key: fc.integer({ min: 0, max: 20 }).map(keyOf),
          holders: fc.subarray([0, 1, 2, 3], { minLength: 1 })
        }),
        { maxLength: 60 }
      )
      .map((entries) => ({
        all: makeTagIndex(entries),
        holders: [0, 1, 2, 3].map((holder) =>
          makeTagIndex(entries.filter(({ holders }) => holders.includes(holder)))
        )
      }))
    const everything = (index: TagIndex) => index.page({ cursor: START, limit: 1000 }).records
    fc.assert(
      fc.property(
        anyHolding,
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 5, maxLength: 20 }),
        ({ all, holders }, limits) => {
          const seen: Array<IndexRecord> = []
          let cursor: Cursor | undefined = START
          for (let round = 0; cursor !== undefined; round++) {
            expect(round).toBeLessThan(500)
            const from: Cursor = cursor
            const pages = holders.map((index, holder) => {
              const limit = limits[(round + holder) % limits.length]!
              return index.page({ cursor: from, limit, examine: limit })
            })
            const merged: Page = mergePages({ pages, limit: limits[round % limits.length]! })
            seen.push(...merged.records)
            cursor = merged.next
          }
          expect(seen).toEqual(everything(all))
        }
      )
    )
  })
})

describe("prefixEnd", () => {
  const anyBytes = fc.array(fc.constantFrom(0, 1, 0x61, 0xfe, 0xff), { maxLength: 4 })
  it("parts the tags with a prefix from those above it", () => {
    fc.assert(
      fc.property(anyBytes, anyBytes, (prefixBytes, tagBytes) => {
        const prefix = Uint8Array.from(prefixBytes)
        const tag = Uint8Array.from(tagBytes)
        const end = prefixEnd(prefix)
        const key = keyOf(0)
        const isFrom = compareRecords({ tag, key }, { tag: prefix, key }) >= 0
        const isBelow = end === undefined || compareRecords({ tag, key }, { tag: end, key }) < 0
        expect(hasPrefix(tag, prefix)).toBe(isFrom && isBelow)
      })
    )
  })
})

it("leaves a prefix that is a Node buffer as it was", () => {
  const prefix = Buffer.from("ab")
  expect(prefixEnd(prefix)).toEqual(Uint8Array.of(0x61, 0x63))
  expect(prefix.toString()).toBe("ab")
})

describe("Cursor", () => {
  it("goes to JSON and back", () => {
    const codec = Schema.toCodecJson(Cursor)
    const cursor: Cursor = { tag: Uint8Array.of(0, 0xff), key: keyOf(7), bound: "after" }
    const wire: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(codec)(cursor)))
    expect(Schema.decodeUnknownSync(codec)(wire)).toEqual(cursor)
    const refused = Schema.decodeUnknownResult(codec)({ tag: "", key: "1", bound: "at" })
    expect(Result.isFailure(refused)).toBe(true)
  })
})
