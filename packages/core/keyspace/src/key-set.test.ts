import { Result, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  KEY_SPACE_SIZE,
  keyFromBigInt,
  KeySet,
  KeySetSchema,
  keyToBigInt,
  MAX_KEY,
  MIN_KEY
} from "./index.ts"
import type { PartitionKey } from "./index.ts"

/** Keys of a small world: sixteen at each end of the key space, so that edges are met often. */
const SMALL = 16n
const key = (index: number): PartitionKey =>
  keyFromBigInt(index < 16 ? BigInt(index) : KEY_SPACE_SIZE - 2n * SMALL + BigInt(index))
const smallKey = fc.integer({ min: 0, max: 31 }).map(key)
const smallSet = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 31 }), fc.integer({ min: 0, max: 31 })), {
    maxLength: 6
  })
  .map((pairs) =>
    // A range across both ends would hold the middle of the key space; the world is its two ends.
    KeySet.fromRanges(
      pairs.filter(([a, b]) => a < 16 === b < 16).map(([a, b]) => [key(a), key(b)] as const)
    )
  )

const world = Array.from({ length: 32 }, (_, index) => key(index))
const members = (set: KeySet): ReadonlyArray<PartitionKey> =>
  world.filter((candidate) => KeySet.has(set, candidate))
const isNormalised = (set: KeySet): boolean => Schema.is(KeySetSchema)(set)

describe("KeySet", () => {
  it("has the members that ranges give it, whichever end comes first", () => {
    const set = KeySet.fromRanges([
      [key(5), key(3)],
      [key(4), key(7)],
      [key(8), key(8)],
      [key(12), key(12)]
    ])
    expect(set).toEqual([
      [key(3), key(8)],
      [key(12), key(12)]
    ])
    expect(members(set)).toEqual([3, 4, 5, 6, 7, 8, 12].map(key))
    expect(KeySet.size(set)).toBe(7n)
  })

  it("counts all keys of the full set and none of the empty one", () => {
    expect(KeySet.size(KeySet.full)).toBe(KEY_SPACE_SIZE)
    expect(KeySet.size(KeySet.empty)).toBe(0n)
    expect(KeySet.complement(KeySet.full)).toEqual(KeySet.empty)
    expect(KeySet.complement(KeySet.empty)).toEqual(KeySet.full)
  })

  it("behaves as sets of numbers do", () => {
    fc.assert(
      fc.property(smallSet, smallSet, smallKey, (a, b, probe) => {
        const inA = KeySet.has(a, probe)
        const inB = KeySet.has(b, probe)
        expect(KeySet.has(KeySet.union(a, b), probe)).toBe(inA || inB)
        expect(KeySet.has(KeySet.intersection(a, b), probe)).toBe(inA && inB)
        expect(KeySet.has(KeySet.difference(a, b), probe)).toBe(inA && !inB)
        expect(KeySet.has(KeySet.complement(a), probe)).toBe(!inA)
        expect(KeySet.has(KeySet.above(a, probe), probe)).toBe(false)
      })
    )
  })

  it("stays normalised, and equal sets are equal lists", () => {
    fc.assert(
      fc.property(smallSet, smallSet, smallKey, (a, b, probe) => {
        const made = [
          KeySet.union(a, b),
          KeySet.unions([a, b, a]),
          KeySet.intersection(a, b),
          KeySet.difference(a, b),
          KeySet.complement(a),
          KeySet.take(a, 5n),
          KeySet.above(a, probe)
        ]
        expect(made.every(isNormalised)).toBe(true)
        expect(KeySet.union(KeySet.difference(a, b), KeySet.intersection(a, b))).toEqual(a)
        expect(KeySet.equals(KeySet.complement(KeySet.complement(a)), a)).toBe(true)
      })
    )
  })

  it("counts what it holds", () => {
    fc.assert(
      fc.property(smallSet, (set) => {
        expect(KeySet.size(set)).toBe(BigInt(members(set).length))
        expect(KeySet.size(set) + KeySet.size(KeySet.complement(set))).toBe(KEY_SPACE_SIZE)
      })
    )
  })

  it("peer-T21: take clamps its count to what there is", () => {
    const set = KeySet.fromRanges([
      [MIN_KEY, key(3)],
      [key(20), key(21)]
    ])
    expect(KeySet.take(set, -1n)).toEqual(KeySet.empty)
    expect(KeySet.take(KeySet.full, -1n)).toEqual(KeySet.empty)
    expect(KeySet.take(set, 0n)).toEqual(KeySet.empty)
    expect(KeySet.take(set, 5n)).toEqual([
      [MIN_KEY, key(3)],
      [key(20), key(20)]
    ])
    expect(KeySet.take(set, 7n)).toEqual(set)
    expect(KeySet.take(KeySet.full, KEY_SPACE_SIZE + 1n)).toEqual(KeySet.full)
    expect(KeySet.take(KeySet.full, 1n)).toEqual([[MIN_KEY, MIN_KEY]])
    fc.assert(
      fc.property(smallSet, fc.bigInt({ min: -40n, max: 40n }), (some, count) => {
        const taken = KeySet.take(some, count)
        const held = KeySet.size(some)
        expect(KeySet.size(taken)).toBe(count < 0n ? 0n : count > held ? held : count)
        expect(members(taken)).toEqual(members(some).slice(0, Number(KeySet.size(taken))))
      })
    )
  })

  it("is walked key by key with minView", () => {
    fc.assert(
      fc.property(smallSet, (set) => {
        const seen: Array<PartitionKey> = []
        let view = KeySet.minView(set)
        while (view !== undefined) {
          seen.push(view.key)
          view = KeySet.minView(view.rest)
        }
        expect(seen).toEqual(members(set))
      })
    )
    expect(KeySet.minView(KeySet.range(MAX_KEY, MAX_KEY))).toEqual({ key: MAX_KEY, rest: [] })
  })

  it("peer-T18: what is left above the last key of a sorted batch is what was not in it", () => {
    const wanted = KeySet.range(MIN_KEY, key(15))
    const listing = [5, 1, 3].map(key)
    const batch = listing.toSorted().slice(0, 2)
    expect(batch).toEqual([1, 3].map(key))
    const left = KeySet.above(wanted, batch.at(-1)!)
    expect(listing.filter((held) => KeySet.has(left, held))).toEqual([key(5)])
  })

  it("travels as pairs and refuses what is not normalised", () => {
    const decode = Schema.decodeUnknownResult(KeySetSchema)
    fc.assert(
      fc.property(smallSet, (set) => {
        const wire: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(KeySetSchema)(set)))
        expect(Result.getOrThrow(decode(wire))).toEqual(set)
      })
    )
    const refused: ReadonlyArray<unknown> = [
      [[key(4), key(3)]],
      [
        [key(1), key(3)],
        [key(4), key(5)]
      ],
      [
        [key(1), key(5)],
        [key(4), key(9)]
      ],
      [
        [key(8), key(9)],
        [key(1), key(2)]
      ],
      [["0", "1"]],
      [[key(1).toUpperCase().replace("0", "A"), MAX_KEY]]
    ]
    for (const wire of refused) expect(Result.isFailure(decode(wire)), String(wire)).toBe(true)
  })

  it("keeps the order of numbers", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: KEY_SPACE_SIZE - 1n }), (value) => {
        expect(keyToBigInt(keyFromBigInt(value))).toBe(value)
      })
    )
  })
})
