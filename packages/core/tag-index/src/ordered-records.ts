/**
 * An ordered set of (tag, key) pairs in memory: a list of leaves, each a sorted run.
 *
 *   leaves   [ a .. c ] [ c .. k ] [ k .. z ]        at most 256 pairs a leaf
 *               tags: ["a", "a", "c"]
 *               keys: ["1", "7", "0"]
 *
 * 1. Pairs strictly ascend inside a leaf and from leaf to leaf.
 * 2. No leaf is empty and none is above `LEAF_MAX`; two neighbours never fit well into one: a leaf
 *    below a quarter is joined with the next if both together fit into half a leaf.
 * 3. `size` is the number of pairs.
 *
 * Finding is two binary searches; adding moves at most a leaf and, each 128 times or more, the list
 * of leaves, which at a million records is a few thousand pointers long.
 */
import type { PartitionKey } from "./record.ts"

/** Pairs of the fullest leaf. */
const LEAF_MAX = 256

/** A sorted run of pairs: `tags[i]` belongs to `keys[i]`. */
interface Leaf {
  readonly tags: Array<string>
  readonly keys: Array<PartitionKey>
}

/** An ordered set of pairs; change it only with the functions of this module. */
export interface OrderedRecords {
  readonly leaves: Array<Leaf>
  size: number
}

/** Where a pair is or would be: its leaf and its place there; past the last: `leaf` is the count. */
export interface Place {
  leaf: number
  slot: number
}

/** The empty set. */
export const emptyRecords = (): OrderedRecords => ({ leaves: [], size: 0 })

const isBefore = (
  leaf: Leaf,
  slot: number,
  tag: string,
  key: PartitionKey,
  orEqual: boolean
): boolean => {
  const other = leaf.tags[slot]!
  if (other !== tag) return other < tag
  const otherKey = leaf.keys[slot]!
  return otherKey < key || (orEqual && otherKey === key)
}

/** The last leaf whose first pair is not above the given one; the first leaf if there is none. */
const leafFor = (records: OrderedRecords, tag: string, key: PartitionKey): number => {
  const { leaves } = records
  let low = 0
  let high = leaves.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (isBefore(leaves[middle]!, 0, tag, key, true)) low = middle
    else high = middle - 1
  }
  return low
}

/** The first slot of a leaf whose pair is not before the given one, or is after it if `strictly`. */
const slotFor = (leaf: Leaf, tag: string, key: PartitionKey, strictly: boolean): number => {
  let low = 0
  let high = leaf.tags.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(leaf, middle, tag, key, strictly)) low = middle + 1
    else high = middle
  }
  return low
}

/** The place of the first pair at or after the given one, or strictly after it. */
export const seek = (
  records: OrderedRecords,
  tag: string,
  key: PartitionKey,
  strictly: boolean
): Place => {
  const leaf = leafFor(records, tag, key)
  const run = records.leaves[leaf]
  if (run === undefined) return { leaf: 0, slot: 0 }
  const slot = slotFor(run, tag, key, strictly)
  return slot < run.tags.length ? { leaf, slot } : { leaf: leaf + 1, slot: 0 }
}

/** Moves a place to the next pair. */
export const advance = (records: OrderedRecords, place: Place): void => {
  place.slot += 1
  if (place.slot < (records.leaves[place.leaf]?.tags.length ?? 0)) return
  place.leaf += 1
  place.slot = 0
}

/** Halves a full leaf; a leaf that grew at the end of all keeps most, as runs in order do. */
const split = (records: OrderedRecords, leaf: number, slot: number): void => {
  const run = records.leaves[leaf]!
  const isAtEnd = leaf === records.leaves.length - 1 && slot === run.tags.length - 1
  const from = isAtEnd ? run.tags.length - 1 : run.tags.length >>> 1
  const right: Leaf = { tags: run.tags.splice(from), keys: run.keys.splice(from) }
  records.leaves.splice(leaf + 1, 0, right)
}

/** Adds a pair; answers whether it was not there before. */
export const add = (records: OrderedRecords, tag: string, key: PartitionKey): boolean => {
  const leaf = leafFor(records, tag, key)
  const run = records.leaves[leaf]
  if (run === undefined) {
    records.leaves.push({ tags: [tag], keys: [key] })
    records.size = 1
    return true
  }
  const slot = slotFor(run, tag, key, false)
  if (run.tags[slot] === tag && run.keys[slot] === key) return false
  run.tags.splice(slot, 0, tag)
  run.keys.splice(slot, 0, key)
  records.size += 1
  if (run.tags.length > LEAF_MAX) split(records, leaf, slot)
  return true
}

/** Joins a leaf with the next one if both are small. */
const joinWithNext = (records: OrderedRecords, leaf: number): void => {
  const run = records.leaves[leaf]
  const next = records.leaves[leaf + 1]
  if (run === undefined || next === undefined) return
  if (run.tags.length + next.tags.length > LEAF_MAX >>> 1) return
  run.tags.push(...next.tags)
  run.keys.push(...next.keys)
  records.leaves.splice(leaf + 1, 1)
}

/** Takes a pair out; answers whether it was there. */
export const take = (records: OrderedRecords, tag: string, key: PartitionKey): boolean => {
  const leaf = leafFor(records, tag, key)
  const run = records.leaves[leaf]
  if (run === undefined) return false
  const slot = slotFor(run, tag, key, false)
  if (run.tags[slot] !== tag || run.keys[slot] !== key) return false
  run.tags.splice(slot, 1)
  run.keys.splice(slot, 1)
  records.size -= 1
  if (run.tags.length === 0) records.leaves.splice(leaf, 1)
  else if (run.tags.length < LEAF_MAX >>> 2) {
    joinWithNext(records, leaf)
    if (leaf > 0) joinWithNext(records, leaf - 1)
  }
  return true
}

/** What is wrong with the structure, in words; empty when all is well. */
export const structureViolations = (records: OrderedRecords): ReadonlyArray<string> => {
  const found: Array<string> = []
  let count = 0
  let last: { readonly tag: string; readonly key: PartitionKey } | undefined
  for (const [number, leaf] of records.leaves.entries()) {
    if (leaf.tags.length === 0 || leaf.tags.length > LEAF_MAX) {
      found.push(`leaf ${number} holds ${leaf.tags.length} pairs`)
    }
    if (leaf.tags.length !== leaf.keys.length) found.push(`leaf ${number} has tags without keys`)
    for (const [slot, tag] of leaf.tags.entries()) {
      const key = leaf.keys[slot]!
      if (last !== undefined && !(last.tag < tag || (last.tag === tag && last.key < key))) {
        found.push(`leaf ${number} slot ${slot} does not ascend`)
      }
      last = { tag, key }
      count += 1
    }
  }
  if (count !== records.size) found.push(`${count} pairs are counted as ${records.size}`)
  return found
}
