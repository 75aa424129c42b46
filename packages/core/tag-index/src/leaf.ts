/**
 * A leaf: a sorted run of (tag, key) pairs in parallel arrays, at most `LEAF_MAX` of them.
 *
 *   tags:  ["a", "a", "c"]               byte strings; neighbours that are equal share one string
 *   heads: [ 0x1f.., 0x7a.., 0x00.. ]    the first 32 bits of each key, which tell most keys apart
 *   keys:  ["1f...", "7a...", "00..."]
 *
 * A search reads the leaf's own arrays and follows the pointer to a key only where heads are equal:
 * at a million records each pointer followed is a cache miss. Of a leaf that begins and ends with
 * the tag that is looked for it reads the heads alone.
 */
import type { PartitionKey } from "./record.ts"

/** Pairs of the fullest leaf. */
export const LEAF_MAX = 128

/** A sorted run of pairs: `tags[i]` belongs to `keys[i]`, whose first 32 bits are `heads[i]`. */
export interface Leaf {
  readonly tags: Array<string>
  readonly keys: Array<PartitionKey>
  readonly heads: Uint32Array
}

/** A pair that is looked for, with the head of its key. */
export interface Target {
  /**
   * Its tag. Where a search meets an equal one it takes the string it met, so that the next ones
   * are told to be equal by their pointers, and what is inserted shares it.
   */
  tag: string
  readonly key: PartitionKey
  readonly head: number
}

const CODE_OF_ZERO = 0x30
const CODE_OF_NINE = 0x39
const CODE_OF_A_LESS_TEN = 0x61 - 10

/** The first 32 bits of a key. */
export const headOf = (key: PartitionKey): number => {
  let head = 0
  for (let index = 0; index < 8; index++) {
    const code = key.charCodeAt(index)
    head = (head << 4) | (code - (code <= CODE_OF_NINE ? CODE_OF_ZERO : CODE_OF_A_LESS_TEN))
  }
  return head >>> 0
}

/** A leaf of one pair. */
export const leafOf = (target: Target): Leaf => {
  const heads = new Uint32Array(LEAF_MAX + 1)
  heads[0] = target.head
  return { tags: [target.tag], keys: [target.key], heads }
}

/** Whether the pair in a slot is before the target, or equal to it where `orEqual`. */
const isBefore = (leaf: Leaf, slot: number, target: Target, orEqual: boolean): boolean => {
  const tag = leaf.tags[slot]!
  if (tag !== target.tag) return tag < target.tag
  target.tag = tag
  return isKeyBefore(leaf, slot, target, orEqual)
}

/** As `isBefore`, of a pair with the target's tag. */
const isKeyBefore = (leaf: Leaf, slot: number, target: Target, orEqual: boolean): boolean => {
  const head = leaf.heads[slot]!
  if (head !== target.head) return head < target.head
  const key = leaf.keys[slot]!
  return key < target.key || (orEqual && key === target.key)
}

/** The first slot whose pair is not before the target, or is after it if `strictly`. */
export const slotFor = (leaf: Leaf, target: Target, strictly: boolean): number => {
  const { tags } = leaf
  let low = 0
  let high = tags.length
  if (tags[0] === target.tag && tags[high - 1] === target.tag) {
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isKeyBefore(leaf, middle, target, strictly)) low = middle + 1
      else high = middle
    }
    return low
  }
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(leaf, middle, target, strictly)) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether the target is the pair in a slot. */
export const holdsAt = (leaf: Leaf, slot: number, target: Target): boolean =>
  leaf.heads[slot] === target.head &&
  leaf.tags[slot] === target.tag &&
  leaf.keys[slot] === target.key

/** Moves the tail up by hand: `splice` allocates for each call. */
const insertAt = <A>(items: Array<A>, slot: number, item: A): void => {
  const last = items.length - 1
  if (slot > last) {
    items.push(item)
    return
  }
  items.push(items[last]!)
  for (let index = last; index > slot; index--) items[index] = items[index - 1]!
  items[slot] = item
}

/** Opens a slot and fills it; an equal tag of a neighbour is shared. */
export const insertInto = (leaf: Leaf, slot: number, target: Target): void => {
  const before = leaf.tags[slot - 1]
  const behind = leaf.tags[slot]
  const shared = before === target.tag ? before : behind === target.tag ? behind : target.tag
  leaf.heads.copyWithin(slot + 1, slot, leaf.tags.length)
  leaf.heads[slot] = target.head
  // What ends with the tag that comes needs no move: all between are the same string's.
  if (behind !== undefined && leaf.tags.at(-1) === shared && behind === shared) {
    leaf.tags.push(shared)
  } else insertAt(leaf.tags, slot, shared)
  insertAt(leaf.keys, slot, target.key)
}

/** Closes a slot. */
export const removeFrom = (leaf: Leaf, slot: number): void => {
  leaf.heads.copyWithin(slot, slot + 1, leaf.tags.length)
  leaf.tags.splice(slot, 1)
  leaf.keys.splice(slot, 1)
}

/** Cuts the pairs from a slot on into a new leaf. */
export const cutFrom = (leaf: Leaf, slot: number): Leaf => {
  const heads = new Uint32Array(LEAF_MAX + 1)
  heads.set(leaf.heads.subarray(slot, leaf.tags.length))
  return { tags: leaf.tags.splice(slot), keys: leaf.keys.splice(slot), heads }
}

/** Appends the pairs of the leaf that follows. */
export const appendLeaf = (leaf: Leaf, next: Leaf): void => {
  leaf.heads.set(next.heads.subarray(0, next.tags.length), leaf.tags.length)
  leaf.tags.push(...next.tags)
  leaf.keys.push(...next.keys)
}

/** What is wrong inside a leaf, in words. */
export const leafViolations = (leaf: Leaf): ReadonlyArray<string> => {
  const { heads, keys, tags } = leaf
  const found: Array<string> = []
  if (tags.length === 0 || tags.length > LEAF_MAX) found.push(`${tags.length} pairs`)
  if (tags.length !== keys.length) found.push(`${tags.length} tags for ${keys.length} keys`)
  for (const [slot, key] of keys.entries()) {
    if (heads[slot] !== headOf(key)) found.push(`a wrong head in slot ${slot}`)
    if (slot === 0) continue
    const tag = tags[slot]!
    const tagBefore = tags[slot - 1]!
    const isAscending = tagBefore < tag || (tagBefore === tag && keys[slot - 1]! < key)
    if (!isAscending) found.push(`slot ${slot} does not ascend`)
  }
  return found
}
