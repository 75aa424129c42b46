/**
 * The completion map: what is finished above a checkpoint.
 *
 *     checkpoint                                          newest
 *     ────────|  open  | finished ... finished | open | 3 of 5 parts |
 *             base     [from ............. to]          partial
 *
 * 1. Nothing at or below the base is in the map; the base itself is the checkpoint's business.
 * 2. A claim covers a stretch of positions: every record that the shard holds within it is
 *    finished. Positions that no record has are covered too, so gaps cost nothing.
 * 3. A map may always claim less than is true (the records come again); it never claims more.
 * 4. The form, a bitset or runs, is how it was stored; both answer the same questions.
 */
import type { PartSetView } from "./part-set.ts"

/** Finished stretches as parallel arrays, ascending, not touching, both ends included. */
export interface Runs {
  readonly _tag: "Runs"
  readonly from: ReadonlyArray<bigint>
  readonly to: ReadonlyArray<bigint>
}

/** Finished positions as bits: bit `i` stands for `origin + i`. */
export interface Bits {
  readonly _tag: "Bits"
  readonly origin: bigint
  readonly bytes: Uint8Array
}

/** A record of which some parts are finished. */
export interface PartialRecord {
  readonly position: bigint
  readonly finished: PartSetView
}

/** What is finished above a checkpoint. */
export interface CompletionMap {
  /** The checkpoint that the map belongs to; none when nothing was finished below it. */
  readonly base: bigint | undefined
  readonly claims: Runs | Bits
  /** Ascending by position; none of them lies in a claim. */
  readonly partials: ReadonlyArray<PartialRecord>
}

/** What a map says about one position. */
export type PositionStatus =
  | { readonly _tag: "Finished" }
  | { readonly _tag: "Partial"; readonly finished: PartSetView }
  | { readonly _tag: "Unfinished" }

const finishedStatus: PositionStatus = { _tag: "Finished" }
const unfinishedStatus: PositionStatus = { _tag: "Unfinished" }

/** A map that claims nothing above a checkpoint. */
export const emptyMap = (base: bigint | undefined): CompletionMap => ({
  base,
  claims: { _tag: "Runs", from: [], to: [] },
  partials: []
})

/** What the map says about a position. O(1) for bits, O(log runs) for runs. */
export const statusOf = (map: CompletionMap, position: bigint): PositionStatus => {
  if (map.base !== undefined && position <= map.base) return finishedStatus
  if (claims(map.claims, position)) return finishedStatus
  const index = lastAtOrBelow(map.partials.length, (at) => map.partials[at]!.position, position)
  const partial = map.partials[index]
  return partial !== undefined && partial.position === position
    ? { _tag: "Partial", finished: partial.finished }
    : unfinishedStatus
}

const claims = (form: Runs | Bits, position: bigint): boolean => {
  switch (form._tag) {
    case "Bits": {
      if (position < form.origin) return false
      const bit = Number(position - form.origin)
      return ((form.bytes[Math.floor(bit / 8)] ?? 0) & (1 << (bit % 8))) !== 0
    }
    case "Runs": {
      const index = lastAtOrBelow(form.from.length, (at) => form.from[at]!, position)
      return index >= 0 && position <= form.to[index]!
    }
  }
}

const lastAtOrBelow = (
  length: number,
  valueAt: (index: number) => bigint,
  position: bigint
): number => {
  let low = 0
  let high = length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    if (valueAt(middle) <= position) low = middle + 1
    else high = middle - 1
  }
  return high
}

/** The map's claims as runs, whichever form they are stored in. O(size). */
export const runsOf = (form: Runs | Bits): Runs => {
  switch (form._tag) {
    case "Runs":
      return form
    case "Bits":
      return bitRuns(form)
  }
}

const bitRuns = ({ bytes, origin }: Bits): Runs => {
  const from: Array<bigint> = []
  const to: Array<bigint> = []
  let start = -1
  const length = bytes.length * 8
  for (let bit = 0; bit <= length; bit++) {
    const isSet = ((bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0
    if (isSet && start < 0) start = bit
    if (isSet || start < 0) continue
    from.push(origin + BigInt(start))
    to.push(origin + BigInt(bit - 1))
    start = -1
  }
  return { _tag: "Runs", from, to }
}

/** The highest position that a map says anything about; none when it says nothing. */
export const highestClaim = (map: CompletionMap): bigint | undefined => {
  const claimed = highestOf(map.claims)
  const partial = map.partials.at(-1)?.position
  if (claimed === undefined || partial === undefined) return claimed ?? partial
  return claimed > partial ? claimed : partial
}

const highestOf = (form: Runs | Bits): bigint | undefined => {
  switch (form._tag) {
    case "Runs":
      return form.to.at(-1)
    case "Bits":
      for (let index = form.bytes.length - 1; index >= 0; index--) {
        const byte = form.bytes[index] ?? 0
        if (byte !== 0) return form.origin + BigInt(index * 8 + 31 - Math.clz32(byte))
      }
      return undefined
  }
}

/**
 * The map with further finished stretches, from another source of knowledge than the checkpoint;
 * stretches at or below the base add nothing. O(n log n) in all stretches.
 */
export const withFinished = (
  map: CompletionMap,
  stretches: ReadonlyArray<{ readonly from: bigint; readonly to: bigint }>
): CompletionMap => {
  const floor = (map.base ?? -1n) + 1n
  const known = runsOf(map.claims)
  const all = known.from.map((from, index) => ({ from, to: known.to[index]! }))
  for (const { from, to } of stretches) {
    if (to >= floor && to >= from) all.push({ from: from < floor ? floor : from, to })
  }
  all.sort((one, other) => (one.from < other.from ? -1 : one.from > other.from ? 1 : 0))
  const from: Array<bigint> = []
  const to: Array<bigint> = []
  for (const stretch of all) {
    const end = to.at(-1)
    if (end !== undefined && stretch.from <= end + 1n) {
      if (stretch.to > end) to[to.length - 1] = stretch.to
    } else {
      from.push(stretch.from)
      to.push(stretch.to)
    }
  }
  const merged: Runs = { _tag: "Runs", from, to }
  const partials = map.partials.filter(({ position }) => !claims(merged, position))
  return { base: map.base, claims: merged, partials }
}
