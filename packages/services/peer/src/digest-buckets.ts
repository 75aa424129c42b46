/**
 * Digests of what a peer holds, by range of keys.
 *
 *   key space   | 0000.. | 0010.. | 0020.. |  ...  | fff0.. |  4,096 buckets by the first 12 bits
 *
 * Each bucket keeps the number of its partitions and the sum of a 64-bit hash of each (key, state
 * digest). A sum, so that a partition's share can be taken out and put in again as it changes.
 */
import type { KeyRange } from "@holdfast/keyspace"
import { PartitionKey } from "@holdfast/keyspace"

const BUCKETS = 4_096
const DIGITS = 3
const REST = 64 - DIGITS

/** The sum over some partitions; equal sums and counts mean, but for chance, equal content. */
export interface RangeSum {
  readonly count: number
  readonly high: number
  readonly low: number
}

/** The sum over nothing. */
export const emptySum: RangeSum = { count: 0, high: 0, low: 0 }

/** Two sums together. */
export const addSums = (left: RangeSum, right: RangeSum): RangeSum => ({
  count: left.count + right.count,
  high: (left.high + right.high) >>> 0,
  low: (left.low + right.low) >>> 0
})

/** A sum as 16 hexadecimal digits. */
export const sumText = ({ high, low }: RangeSum): string =>
  high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0")

const hashText = (text: string, seed: number, factor: number): number => {
  let hash = seed
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), factor)
    hash ^= hash >>> 15
  }
  return hash >>> 0
}

/** The share of one partition in a sum. */
export const shareOf = (key: string, digest: string): RangeSum => {
  const text = key + digest
  return {
    count: 1,
    high: hashText(text, 0x811c9dc5, 0x01000193),
    low: hashText(text, 0x9747b28c, 0x85ebca6b)
  }
}

const bucketOf = (key: string): number => Number.parseInt(key.slice(0, DIGITS), 16)
const prefixOf = (bucket: number): string => bucket.toString(16).padStart(DIGITS, "0")
const firstKey = (bucket: number): PartitionKey =>
  PartitionKey.make(prefixOf(bucket) + "0".repeat(REST))
const lastKey = (bucket: number): PartitionKey =>
  PartitionKey.make(prefixOf(bucket) + "f".repeat(REST))

/** A range as the buckets that lie in it, and the pieces of buckets at its ends. */
export interface Cover {
  readonly buckets: readonly [first: number, last: number]
  readonly pieces: ReadonlyArray<KeyRange>
}

/** Takes a range apart; without whole buckets the pieces are the range itself. */
export const coverOf = ([from, to]: KeyRange): Cover => {
  const [low, high] = [bucketOf(from), bucketOf(to)]
  const first = from === firstKey(low) ? low : low + 1
  const last = to === lastKey(high) ? high : high - 1
  if (first > last) return { buckets: [0, -1], pieces: [[from, to]] }
  const pieces: Array<KeyRange> = []
  if (first > low) pieces.push([from, lastKey(low)])
  if (last < high) pieces.push([firstKey(high), to])
  return { buckets: [first, last], pieces }
}

/** Cuts a range at bucket borders into at most `parts`; one that lies in a bucket stays whole. */
export const splitRange = ([from, to]: KeyRange, parts: number): ReadonlyArray<KeyRange> => {
  const [low, high] = [bucketOf(from), bucketOf(to)]
  const step = Math.ceil((high - low + 1) / parts)
  const ranges: Array<KeyRange> = []
  for (let bucket = low; bucket <= high; bucket += step) {
    const end = Math.min(bucket + step - 1, high)
    ranges.push([bucket === low ? from : firstKey(bucket), end === high ? to : lastKey(end)])
  }
  return ranges
}

/** The digests of one application. */
export class DigestBuckets {
  readonly #counts = new Int32Array(BUCKETS)
  readonly #highs = new Uint32Array(BUCKETS)
  readonly #lows = new Uint32Array(BUCKETS)

  /** A partition went from one digest to another; null for none. */
  change(key: string, before: string | null, after: string | null): void {
    if (before === after) return
    const bucket = bucketOf(key)
    if (before !== null) this.#add(bucket, shareOf(key, before), -1)
    if (after !== null) this.#add(bucket, shareOf(key, after), 1)
  }

  #add(bucket: number, share: RangeSum, sign: 1 | -1): void {
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + sign
    this.#highs[bucket] = (this.#highs[bucket] ?? 0) + sign * share.high
    this.#lows[bucket] = (this.#lows[bucket] ?? 0) + sign * share.low
  }

  /** The sum over the buckets from the first to the last. */
  sum([first, last]: readonly [first: number, last: number]): RangeSum {
    let [count, high, low] = [0, 0, 0]
    for (let bucket = first; bucket <= last; bucket += 1) {
      count += this.#counts[bucket] ?? 0
      high = (high + (this.#highs[bucket] ?? 0)) >>> 0
      low = (low + (this.#lows[bucket] ?? 0)) >>> 0
    }
    return { count, high, low }
  }
}
