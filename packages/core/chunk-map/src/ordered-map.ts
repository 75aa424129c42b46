/**
 * A persistent ordered map with scoped batched edits, for the tables that hold exceptions.
 *
 * ```
 *   map ─ leaves[] ─┬─ leaf { keys[<=64], values[<=64] }
 *                   └─ leaf ...
 * ```
 * 1. Keys rise strictly within a leaf and from leaf to leaf; no leaf is empty.
 * 2. A map never changes; an edit copies each leaf that it touches once, and the list of leaves
 *    once.
 * 3. A sealed edit may not be used again.
 *
 * Lookup costs O(log n); the first write of an edit O(n / 64), each further write O(log n + 64).
 */
import { assertThat } from "./assertion.ts"

const LEAF_MAX = 64

interface Leaf<K, V> {
  readonly owner: object
  readonly keys: Array<K>
  readonly values: Array<V>
}

/** A persistent map whose keys are ordered by `compare`. */
export interface OrderedMap<K, V> {
  readonly compare: (left: K, right: K) => number
  readonly leaves: ReadonlyArray<Leaf<K, V>>
  readonly size: number
}

/** The map without entries. */
export const emptyMap = <K, V>(compare: (left: K, right: K) => number): OrderedMap<K, V> => ({
  compare,
  leaves: [],
  size: 0
})

type Compare<K> = (left: K, right: K) => number

/** The last leaf whose first key is not above `key`, or 0. */
const leafFor = <K, V>(leaves: ReadonlyArray<Leaf<K, V>>, compare: Compare<K>, key: K): number => {
  let low = 0
  let high = leaves.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (compare(leaves[middle]!.keys[0]!, key) <= 0) low = middle
    else high = middle - 1
  }
  return low
}

/** The first place in `keys` that is not below `key`. */
const placeFor = <K>(keys: ReadonlyArray<K>, compare: Compare<K>, key: K): number => {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(keys[middle]!, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

const lookUp = <K, V>(
  leaves: ReadonlyArray<Leaf<K, V>>,
  compare: Compare<K>,
  key: K
): V | undefined => {
  if (leaves.length === 0) return undefined
  const leaf = leaves[leafFor(leaves, compare, key)]!
  const place = placeFor(leaf.keys, compare, key)
  if (place === leaf.keys.length || compare(leaf.keys[place]!, key) !== 0) return undefined
  return leaf.values[place]
}

/** Takes one item out; at the front, where the oldest of a table stand, without a list of it. */
const removeAt = (items: Array<unknown>, place: number): void => {
  if (place === 0) items.shift()
  else items.splice(place, 1)
}

function* walk<K, V>(
  leaves: ReadonlyArray<Leaf<K, V>>,
  compare: Compare<K>,
  start: K | undefined
): Generator<readonly [K, V]> {
  if (leaves.length === 0) return
  let index = start === undefined ? 0 : leafFor(leaves, compare, start)
  let place = start === undefined ? 0 : placeFor(leaves[index]!.keys, compare, start)
  for (; index < leaves.length; index++, place = 0) {
    const { keys, values } = leaves[index]!
    for (; place < keys.length; place++) yield [keys[place]!, values[place]!]
  }
}

/** The value of `key`, or undefined. */
export const mapGet = <K, V>(map: OrderedMap<K, V>, key: K): V | undefined =>
  lookUp(map.leaves, map.compare, key)

/** Entries in order, from the first key that is not below `start`. */
export const mapEntries = <K, V>(map: OrderedMap<K, V>, start?: K): Generator<readonly [K, V]> =>
  walk(map.leaves, map.compare, start)

/** A scoped batch of edits of one map; `seal` gives the new map and ends it. */
export class MapEdit<K, V> {
  readonly #base: OrderedMap<K, V>
  readonly #owner = {}
  #leaves: Array<Leaf<K, V>> | undefined
  #size: number
  #sealed = false

  constructor(base: OrderedMap<K, V>) {
    this.#base = base
    this.#size = base.size
  }

  /** The number of entries at this moment. */
  get size(): number {
    return this.#size
  }

  /** The value of `key` at this moment, or undefined. */
  get(key: K): V | undefined {
    return lookUp(this.#leaves ?? this.#base.leaves, this.#base.compare, key)
  }

  /**
   * Up to `limit` entries in order from the first key not below `start`, as a copy that later
   * edits do not disturb.
   */
  slice(limit: number, start?: K): ReadonlyArray<readonly [K, V]> {
    const taken: Array<readonly [K, V]> = []
    if (limit <= 0) return taken
    for (const entry of walk(this.#leaves ?? this.#base.leaves, this.#base.compare, start)) {
      taken.push(entry)
      if (taken.length >= limit) break
    }
    return taken
  }

  /** Adds or replaces the value of `key`. */
  set(key: K, value: V): void {
    const leaves = this.#writable()
    if (leaves.length === 0) {
      leaves.push({ owner: this.#owner, keys: [key], values: [value] })
      this.#size++
      return
    }
    const index = leafFor(leaves, this.#base.compare, key)
    const leaf = this.#own(leaves, index)
    const place = placeFor(leaf.keys, this.#base.compare, key)
    if (place < leaf.keys.length && this.#base.compare(leaf.keys[place]!, key) === 0) {
      leaf.values[place] = value
      return
    }
    leaf.keys.splice(place, 0, key)
    leaf.values.splice(place, 0, value)
    this.#size++
    if (leaf.keys.length > LEAF_MAX) this.#split(leaves, index, place)
  }

  /** Removes `key`; says whether it was there. */
  delete(key: K): boolean {
    const { compare } = this.#base
    const before = this.#leaves ?? this.#base.leaves
    if (before.length === 0) return false
    const index = leafFor(before, compare, key)
    const { keys } = before[index]!
    const place = placeFor(keys, compare, key)
    if (place === keys.length || compare(keys[place]!, key) !== 0) return false
    const leaves = this.#writable()
    const leaf = this.#own(leaves, index)
    removeAt(leaf.keys, place)
    removeAt(leaf.values, place)
    if (leaf.keys.length === 0) leaves.splice(index, 1)
    this.#size--
    return true
  }

  /** The edited map; the edit is over. */
  seal(): OrderedMap<K, V> {
    this.#sealed = true
    if (this.#leaves === undefined) return this.#base
    return { compare: this.#base.compare, leaves: this.#leaves, size: this.#size }
  }

  #writable(): Array<Leaf<K, V>> {
    assertThat(!this.#sealed, "an edit is used after it was sealed")
    this.#leaves ??= this.#base.leaves.slice()
    return this.#leaves
  }

  #own(leaves: Array<Leaf<K, V>>, index: number): Leaf<K, V> {
    const leaf = leaves[index]!
    if (leaf.owner === this.#owner) return leaf
    const owned = { owner: this.#owner, keys: leaf.keys.slice(), values: leaf.values.slice() }
    leaves[index] = owned
    return owned
  }

  #split(leaves: Array<Leaf<K, V>>, index: number, place: number): void {
    const leaf = leaves[index]!
    const cut = place === LEAF_MAX ? LEAF_MAX : LEAF_MAX >>> 1
    const keys = leaf.keys.splice(cut)
    const values = leaf.values.splice(cut)
    leaves.splice(index + 1, 0, { owner: this.#owner, keys, values })
  }
}
