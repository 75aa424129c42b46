/**
 * Which parts of a record are finished: a bitset over `0 .. total - 1`.
 *
 * A part set is plain data; `count` is always the number of set bits, so that completion is one
 * comparison and a report costs O(1) whatever the total.
 */

/** A mutable set of part indexes below a fixed total. */
export interface PartSet {
  readonly total: number
  /** How many bits are set. */
  count: number
  /** Bit `index % 32` of word `index / 32`. */
  readonly words: Uint32Array
}

/** A part set that only answers. */
export interface PartSetView {
  readonly total: number
  readonly count: number
  readonly words: Readonly<Uint32Array>
}

/** An empty set of `total` parts; 4 bytes for each 32 of them. */
export const makePartSet = (total: number): PartSet => ({
  total,
  count: 0,
  words: new Uint32Array((total + 31) >>> 5)
})

/** Whether a part is in the set; false for an index outside `0 .. total - 1`. */
export const hasPart = (set: PartSetView, index: number): boolean =>
  index >= 0 && index < set.total && ((set.words[index >>> 5] ?? 0) & (1 << (index & 31))) !== 0

/** Adds a part; false when it was there already. The index must be within the total. */
export const addPart = (set: PartSet, index: number): boolean => {
  const word = index >>> 5
  const bit = 1 << (index & 31)
  const before = set.words[word] ?? 0
  if ((before & bit) !== 0) return false
  set.words[word] = before | bit
  set.count += 1
  return true
}

/** A copy that shares nothing with the original. */
export const copyPartSet = (set: PartSetView): PartSet => ({
  total: set.total,
  count: set.count,
  words: Uint32Array.from(set.words)
})

/** The finished part indexes in ascending order. */
export function* partsOf(set: PartSetView): Generator<number> {
  for (let index = 0; index < set.total; index++) if (hasPart(set, index)) yield index
}
