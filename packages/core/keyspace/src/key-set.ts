/**
 * Sets of partition keys as sorted inclusive ranges.
 *
 *   [10..1f] [40..4f]      ranges ascend, never overlap, never touch
 *
 * 1. A `KeySet` is normalised: for neighbours `[a, b] [c, d]` always `a <= b`, `nextKey(b) < c`.
 *    Equal sets therefore have equal lists of ranges.
 * 2. Union, intersection and difference behave as those of sets of numbers; each is linear in the
 *    ranges of its arguments.
 * 3. `size(take(set, n))` is `n` clamped to `0 .. size(set)`, for every `n`.
 * 4. The encoded form is the list of `[from, to]` pairs itself.
 */
import { Schema } from "effect"
import {
  keyFromBigInt,
  keyToBigInt,
  MAX_KEY,
  MIN_KEY,
  nextKey,
  PartitionKey,
  previousKey
} from "./partition-key.ts"

/** An inclusive range of keys, first not above last. */
export type KeyRange = readonly [from: PartitionKey, to: PartitionKey]

const isNormalised = (ranges: ReadonlyArray<KeyRange>): boolean =>
  ranges.every(([from, to], index) => {
    if (from > to) return false
    const before = ranges[index - 1]
    if (before === undefined) return true
    const gap = nextKey(before[1])
    return gap !== undefined && gap < from
  })

/** A normalised set of keys; on the wire a list of `[from, to]` pairs of hexadecimal keys. */
export const KeySetSchema = Schema.Array(Schema.Tuple([PartitionKey, PartitionKey])).pipe(
  Schema.check(
    Schema.makeFilter((ranges: ReadonlyArray<KeyRange>) =>
      isNormalised(ranges) ? undefined : "ranges that ascend and neither overlap nor touch"
    )
  ),
  Schema.brand("KeySet")
)
/** A normalised set of keys. */
export type KeySet = typeof KeySetSchema.Type

/** Brands ranges that are normalised by construction: the only cast in this module. */
const brand = (ranges: ReadonlyArray<KeyRange>): KeySet => ranges as KeySet

const isAdjacentOrOverlapping = (to: PartitionKey, from: PartitionKey): boolean =>
  from <= to || nextKey(to) === from

/** Joins ranges that ascend by their first key. */
const joinAscending = (ranges: Iterable<KeyRange>): KeySet => {
  const joined: Array<KeyRange> = []
  for (const range of ranges) {
    const last = joined.at(-1)
    if (last === undefined || !isAdjacentOrOverlapping(last[1], range[0])) joined.push(range)
    else if (range[1] > last[1]) joined[joined.length - 1] = [last[0], range[1]]
  }
  return brand(joined)
}

/** No key. */
const empty: KeySet = brand([])
/** Every key. */
const full: KeySet = brand([[MIN_KEY, MAX_KEY]])

/** The keys from one to the other, both included, whichever is the smaller. */
const range = (a: PartitionKey, b: PartitionKey): KeySet => brand([a <= b ? [a, b] : [b, a]])

/** The set of ranges that may overlap and come in any order. */
const fromRanges = (ranges: Iterable<KeyRange>): KeySet =>
  joinAscending(
    Array.from(ranges, ([a, b]): KeyRange => (a <= b ? [a, b] : [b, a])).sort((left, right) =>
      left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0
    )
  )

/** Whether no key is in the set. */
const isEmpty = (set: KeySet): boolean => set.length === 0

/** Whether a key is in the set; logarithmic in the ranges. */
const has = (set: KeySet, key: PartitionKey): boolean => {
  let low = 0
  let high = set.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const [from, to] = set[middle]!
    if (key < from) high = middle - 1
    else if (key > to) low = middle + 1
    else return true
  }
  return false
}

/** How many keys are in the set, 0 .. 2^256. */
const size = (set: KeySet): bigint => {
  let total = 0n
  for (const [from, to] of set) total += keyToBigInt(to) - keyToBigInt(from) + 1n
  return total
}

/** The keys of either set. */
const union = (a: KeySet, b: KeySet): KeySet => {
  if (a.length === 0) return b
  if (b.length === 0) return a
  return fromRanges([...a, ...b])
}

/** The keys of any of the sets. */
const unions = (sets: Iterable<KeySet>): KeySet => {
  const ranges: Array<KeyRange> = []
  for (const set of sets) ranges.push(...set)
  return fromRanges(ranges)
}

/** The keys of both sets. */
const intersection = (a: KeySet, b: KeySet): KeySet => {
  const common: Array<KeyRange> = []
  let left = 0
  let right = 0
  while (left < a.length && right < b.length) {
    const [fromA, toA] = a[left]!
    const [fromB, toB] = b[right]!
    const from = fromA > fromB ? fromA : fromB
    const to = toA < toB ? toA : toB
    if (from <= to) common.push([from, to])
    if (toA < toB) left++
    else right++
  }
  return brand(common)
}

/** The keys of the whole key space that are not in the set. */
const complement = (set: KeySet): KeySet => {
  const gaps: Array<KeyRange> = []
  let from: PartitionKey | undefined = MIN_KEY
  for (const [first, last] of set) {
    const before = previousKey(first)
    if (from !== undefined && before !== undefined && from <= before) gaps.push([from, before])
    from = nextKey(last)
  }
  if (from !== undefined) gaps.push([from, MAX_KEY])
  return brand(gaps)
}

/** The keys of the first set that are not in the second. */
const difference = (a: KeySet, b: KeySet): KeySet =>
  a.length === 0 || b.length === 0 ? a : intersection(a, complement(b))

/** The first `count` keys in order; a negative count takes none, one above the size takes all. */
const take = (set: KeySet, count: bigint): KeySet => {
  const taken: Array<KeyRange> = []
  let wanted = count
  for (const [from, to] of set) {
    if (wanted <= 0n) break
    const first = keyToBigInt(from)
    const held = keyToBigInt(to) - first + 1n
    taken.push(wanted >= held ? [from, to] : [from, keyFromBigInt(first + wanted - 1n)])
    wanted -= held
  }
  return brand(taken)
}

/** The smallest key and the rest, or `undefined` of the empty set. */
const minView = (
  set: KeySet
): { readonly key: PartitionKey; readonly rest: KeySet } | undefined => {
  const first = set[0]
  if (first === undefined) return undefined
  const [from, to] = first
  const after = from === to ? undefined : nextKey(from)
  return { key: from, rest: brand([...(after ? [[after, to] as const] : []), ...set.slice(1)]) }
}

/** The keys of the set strictly above a key: what a walk in order has still to visit. */
const above = (set: KeySet, key: PartitionKey): KeySet => {
  const from = nextKey(key)
  return from === undefined ? empty : intersection(set, range(from, MAX_KEY))
}

/** Whether two sets hold the same keys. */
const equals = (a: KeySet, b: KeySet): boolean =>
  a.length === b.length &&
  a.every(([from, to], index) => from === b[index]![0] && to === b[index]![1])

/** Operations on sets of keys. */
export const KeySet = {
  empty,
  full,
  range,
  fromRanges,
  isEmpty,
  has,
  size,
  union,
  unions,
  intersection,
  complement,
  difference,
  take,
  minView,
  above,
  equals
}
