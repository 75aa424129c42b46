/** Numbers from a seed: the same seed gives the same case, whatever ran before it. */

/** A source of numbers. */
export interface Random {
  /** A whole number from 0 up to, but not including, the limit. */
  readonly below: (limit: number) => number
  readonly pick: <A>(from: ReadonlyArray<A>) => A
}

/** Mulberry32, seeded by a text: enough for hostile input, no more. */
export const randomOf = (seed: string): Random => {
  let state = 0x9e3779b9
  for (const letter of seed) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 0x85ebca6b)
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  const pick = <A>(from: ReadonlyArray<A>): A => {
    const at = below(from.length)
    for (const [index, one] of from.entries()) if (index === at) return one
    throw new RangeError("there is nothing to pick from")
  }
  return { below, pick }
}
