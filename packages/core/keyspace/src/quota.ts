/**
 * How many keys each member should hold.
 *
 * With `n` members and `factor` copies of each key, `min(factor, n)` times the key space is shared
 * out in proportion to the weights; a member holds each key at most once, so a share above the
 * whole key space is cut there and the rest goes to the others, again in proportion.
 *
 * 1. The quotas add up to exactly `min(factor, n) * 2^256`.
 * 2. No quota is above 2^256; below that, each is within one key of its proportional share.
 */
import { KEY_SPACE_SIZE } from "./partition-key.ts"

/** The weights whose proportional share would be the whole key space or more. */
const indicesToCap = (
  weights: ReadonlyArray<bigint>,
  capped: ReadonlySet<number>,
  copies: bigint
): ReadonlyArray<number> => {
  let total = 0n
  for (const [index, weight] of weights.entries()) if (!capped.has(index)) total += weight
  const copiesLeft = copies - BigInt(capped.size)
  const over: Array<number> = []
  for (const [index, weight] of weights.entries()) {
    if (!capped.has(index) && weight * copiesLeft >= total) over.push(index)
  }
  return over
}

/** The quota of each weight, in keys, in the same order; at most as many rounds as members. */
export const quotas = (weights: ReadonlyArray<bigint>, factor: number): ReadonlyArray<bigint> => {
  const copies = BigInt(Math.min(factor, weights.length))
  const capped = new Set<number>()
  let over = indicesToCap(weights, capped, copies)
  while (over.length > 0 && capped.size < Number(copies)) {
    for (const index of over) capped.add(index)
    over = indicesToCap(weights, capped, copies)
  }
  const keysLeft = (copies - BigInt(capped.size)) * KEY_SPACE_SIZE
  let total = 0n
  for (const [index, weight] of weights.entries()) if (!capped.has(index)) total += weight
  let weightSoFar = 0n
  return weights.map((weight, index) => {
    if (capped.has(index)) return KEY_SPACE_SIZE
    const from = (weightSoFar * keysLeft) / total
    weightSoFar += weight
    return (weightSoFar * keysLeft) / total - from
  })
}
