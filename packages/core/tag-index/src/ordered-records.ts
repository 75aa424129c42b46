/**
 * An ordered set of (tag, key) pairs in memory: a list of leaves, each a sorted run.
 *
 *   leaves       [ a .. c ] [ c .. k ] [ k .. z ]
 *   firstTags    "a"        "c"        "k"           searched instead of the leaves themselves
 *
 * 1. Pairs strictly ascend inside a leaf and from leaf to leaf.
 * 2. No leaf is empty or above `LEAF_MAX`. A removal that leaves a leaf under a quarter full joins
 *    it with a neighbour if both together fill at most half a leaf.
 * 3. `size` is the number of pairs; `firstTags` and `firstHeads` are those of each leaf's first.
 *
 * Finding is two binary searches. Adding moves at most a leaf and, at most once in half a leaf of
 * additions, the lists of leaves: at a million records some ten thousand entries.
 */
import {
  appendLeaf,
  cutFrom,
  headOf,
  holdsAt,
  insertInto,
  LEAF_MAX,
  leafOf,
  leafViolations,
  removeFrom,
  slotFor
} from "./leaf.ts"
import type { Leaf, Target } from "./leaf.ts"
import type { PartitionKey } from "./record.ts"

/** An ordered set of pairs; change it only with the functions of this module. */
export interface OrderedRecords {
  readonly leaves: Array<Leaf>
  readonly firstTags: Array<string>
  readonly firstHeads: Array<number>
  size: number
}

/**
 * Where a pair is or would be: its leaf and its place there; past the last: `leaf` is the count.
 */
export interface Place {
  leaf: number
  slot: number
}

/** The empty set. */
export const emptyRecords = (): OrderedRecords => ({
  leaves: [],
  firstTags: [],
  firstHeads: [],
  size: 0
})

const startsAtOrBefore = (records: OrderedRecords, leaf: number, target: Target): boolean => {
  const tag = records.firstTags[leaf]!
  if (tag !== target.tag) return tag < target.tag
  target.tag = tag
  const head = records.firstHeads[leaf]!
  return head === target.head ? records.leaves[leaf]!.keys[0]! <= target.key : head < target.head
}

/** The last leaf whose first pair is not above the target; the first leaf if there is none. */
const leafFor = (records: OrderedRecords, target: Target): number => {
  let low = 0
  let high = records.leaves.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (startsAtOrBefore(records, middle, target)) low = middle
    else high = middle - 1
  }
  return low
}

/** Sets what is known of a leaf's first pair. */
const noteFirst = (records: OrderedRecords, leaf: number): void => {
  const run = records.leaves[leaf]
  if (run === undefined) return
  records.firstTags[leaf] = run.tags[0]!
  records.firstHeads[leaf] = run.heads[0]!
}

const insertLeaf = (records: OrderedRecords, leaf: number, run: Leaf): void => {
  records.leaves.splice(leaf, 0, run)
  records.firstTags.splice(leaf, 0, run.tags[0]!)
  records.firstHeads.splice(leaf, 0, run.heads[0]!)
}

const removeLeaf = (records: OrderedRecords, leaf: number): void => {
  records.leaves.splice(leaf, 1)
  records.firstTags.splice(leaf, 1)
  records.firstHeads.splice(leaf, 1)
}

/** The place of the first pair at or after the given one, or strictly after it. */
export const seek = (
  records: OrderedRecords,
  tag: string,
  key: PartitionKey,
  strictly: boolean
): Place => {
  const target = { tag, key, head: headOf(key) }
  const leaf = leafFor(records, target)
  const run = records.leaves[leaf]
  if (run === undefined) return { leaf: 0, slot: 0 }
  const slot = slotFor(run, target, strictly)
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
  insertLeaf(records, leaf + 1, cutFrom(run, from))
}

/** Adds a pair; answers whether it was not there before. */
export const add = (records: OrderedRecords, tag: string, key: PartitionKey): boolean => {
  const target = { tag, key, head: headOf(key) }
  const leaf = leafFor(records, target)
  const run = records.leaves[leaf]
  if (run === undefined) {
    insertLeaf(records, 0, leafOf(target))
    records.size = 1
    return true
  }
  const slot = slotFor(run, target, false)
  if (holdsAt(run, slot, target)) return false
  insertInto(run, slot, target)
  records.size += 1
  if (slot === 0) noteFirst(records, leaf)
  if (run.tags.length > LEAF_MAX) split(records, leaf, slot)
  return true
}

/** Joins a leaf with the next one if both are small. */
const joinWithNext = (records: OrderedRecords, leaf: number): void => {
  const run = records.leaves[leaf]
  const next = records.leaves[leaf + 1]
  if (run === undefined || next === undefined) return
  if (run.tags.length + next.tags.length > LEAF_MAX >>> 1) return
  appendLeaf(run, next)
  removeLeaf(records, leaf + 1)
}

/** Takes a pair out; answers whether it was there. */
export const take = (records: OrderedRecords, tag: string, key: PartitionKey): boolean => {
  const target = { tag, key, head: headOf(key) }
  const leaf = leafFor(records, target)
  const run = records.leaves[leaf]
  if (run === undefined) return false
  const slot = slotFor(run, target, false)
  if (!holdsAt(run, slot, target)) return false
  removeFrom(run, slot)
  records.size -= 1
  if (run.tags.length === 0) {
    removeLeaf(records, leaf)
    return true
  }
  if (slot === 0) noteFirst(records, leaf)
  if (run.tags.length < LEAF_MAX >>> 2) {
    joinWithNext(records, leaf)
    if (leaf > 0) joinWithNext(records, leaf - 1)
  }
  return true
}

/** What is wrong with the structure, in words; empty when all is well. */
export const structureViolations = (records: OrderedRecords): ReadonlyArray<string> => {
  const found: Array<string> = []
  let count = 0
  for (const [number, leaf] of records.leaves.entries()) {
    for (const violation of leafViolations(leaf)) found.push(`leaf ${number}: ${violation}`)
    const lastBefore = records.leaves[number - 1]
    if (lastBefore !== undefined) {
      const tag = lastBefore.tags.at(-1)!
      const isAscending =
        tag < leaf.tags[0]! || (tag === leaf.tags[0] && lastBefore.keys.at(-1)! < leaf.keys[0]!)
      if (!isAscending) found.push(`leaf ${number} does not ascend from the one before`)
    }
    if (
      records.firstTags[number] !== leaf.tags[0] ||
      records.firstHeads[number] !== leaf.heads[0]
    ) {
      found.push(`leaf ${number} is noted with another first pair`)
    }
    count += leaf.tags.length
  }
  if (count !== records.size) found.push(`${count} pairs are counted as ${records.size}`)
  if (records.firstTags.length !== records.leaves.length) found.push("a first pair without a leaf")
  return found
}
