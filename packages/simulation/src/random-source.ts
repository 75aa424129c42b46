/**
 * Chance from a seed: xoshiro128**, seeded by splitmix32 (Blackman and Vigna, 2018).
 *
 * A source is split by name, so that what one part draws never shifts what another part draws.
 */
import type { Random } from "effect"

/** A source of chance: Effect's own interface, and what a simulation draws from it. */
export interface RandomSource extends Random.Random {
  /** A whole number from `low` to `high`, both included. */
  readonly integer: (low: number, high: number) => number
  readonly chance: (probability: number) => boolean
  /** One of several; undefined when there is none. */
  readonly pick: <A>(from: ReadonlyArray<A>) => A | undefined
  /** A source of its own, given by this one's seed and a name. */
  readonly split: (name: string) => RandomSource
}

const splitmix = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}

const rotate = (value: number, bits: number): number =>
  ((value << bits) | (value >>> (32 - bits))) >>> 0

const xoshiro = (seed: number) => {
  const mix = splitmix(seed)
  let [a, b, c, d] = [mix(), mix(), mix(), mix()]
  return (): number => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0
    const kept = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= kept
    d = rotate(d >>> 0, 11)
    return result
  }
}

/** FNV-1a over UTF-16 code units. */
const hashText = (text: string, seed: number): number => {
  let hash = (0x811c9dc5 ^ seed) >>> 0
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  }
  return hash
}

/** Makes a source from a 32-bit seed. */
export const makeRandomSource = (seed: number): RandomSource => {
  const next = xoshiro(seed)
  const double = (): number => {
    const high = next() >>> 5
    const low = next() >>> 6
    return (high * 67_108_864 + low) / 9_007_199_254_740_992
  }
  const integer = (low: number, high: number): number =>
    low + Math.floor(double() * (high - low + 1))
  return {
    nextDoubleUnsafe: double,
    nextIntUnsafe: () => Math.floor((double() * 2 - 1) * Number.MAX_SAFE_INTEGER),
    integer,
    chance: (probability) => double() < probability,
    pick: (from) => from[integer(0, from.length - 1)],
    split: (name) => makeRandomSource(hashText(name, seed))
  }
}
