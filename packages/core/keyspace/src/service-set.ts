/**
 * Service sets: whom to ask so that every key is asked for exactly once.
 *
 *   wanted   |------------------------------------------|
 *   a        |--------------|
 *   b                       |-------------|
 *   missing                               |-------------|   nobody who may answer holds these
 *
 * 1. The assignments are disjoint; together with `missing` they are exactly the wanted keys.
 * 2. A peer is only asked for keys that it owns, and may answer for.
 * 3. `missing` is exactly what no live peer may answer for.
 * 4. Few peers are asked: each is the one that covers most of what is left when it is chosen, the
 *    greedy rule for set cover (Chvatal 1979), after a first peer chosen by the random number.
 */
import { KeySet } from "./key-set.ts"
import type { KeyRange } from "./key-set.ts"
import type { Distribution } from "./distribution.ts"
import type { PeerId } from "./member.ts"

/** What to ask one peer for. */
export interface Assignment {
  readonly peer: PeerId
  readonly keys: KeySet
}

/** Whom to ask for what, and what nobody can answer for. */
export interface ServiceSet {
  readonly assignments: ReadonlyArray<Assignment>
  readonly missing: KeySet
}

/** What a service set is chosen from. */
export interface ServiceSetOptions {
  readonly distribution: Distribution
  /** Peers that may be asked. */
  readonly live: ReadonlySet<PeerId>
  /** A random 32-bit number: equal numbers choose equal sets. */
  readonly random: number
  /** The keys that are asked for; the whole key space if absent. */
  readonly wanted?: KeySet
  /** For peers that may answer for some of their keys only, which; a peer not named: for all. */
  readonly complete?: ReadonlyMap<PeerId, KeySet>
}

interface Candidate {
  readonly peer: PeerId
  readonly keys: KeySet
  /** At most this many of the keys still wanted are this candidate's. */
  bound: bigint
}

/** The 32-bit generator splitmix32: a new number from each call, the same from the same seed. */
const randomNumbers = (seed: number): (() => number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}

const shuffle = <A>(items: Array<A>, random: () => number): Array<A> => {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random() % (last + 1)
    const kept = items[last]!
    items[last] = items[other]!
    items[other] = kept
  }
  return items
}

const candidatesOf = (options: ServiceSetOptions, wanted: KeySet): Array<Candidate> => {
  const { complete, distribution, live } = options
  const owned = new Map<PeerId, Array<KeyRange>>()
  for (const { from, owners, to } of distribution.segments) {
    for (const peer of owners) {
      if (!live.has(peer)) continue
      const ranges = owned.get(peer)
      if (ranges === undefined) owned.set(peer, [[from, to]])
      else ranges.push([from, to])
    }
  }
  return Array.from(owned, ([peer, ranges]) => {
    const answerable = complete?.get(peer) ?? KeySet.full
    const held = KeySet.intersection(KeySet.fromRanges(ranges), answerable)
    const keys = KeySet.intersection(held, wanted)
    return { peer, keys, bound: KeySet.size(keys) }
  }).filter(({ bound }) => bound > 0n)
}

/** Takes the candidate that covers most of what is left; bounds only ever shrink, so most wait. */
const takeBest = (candidates: Array<Candidate>, left: KeySet): Candidate | undefined => {
  let best: Candidate | undefined
  for (const candidate of candidates) {
    if (best !== undefined && candidate.bound <= best.bound) continue
    candidate.bound = KeySet.size(KeySet.intersection(candidate.keys, left))
    if (candidate.bound > 0n && (best === undefined || candidate.bound > best.bound)) {
      best = candidate
    }
  }
  return best
}

/** Chooses whom to ask for the wanted keys; see the invariants above. */
export const serviceSet = (options: ServiceSetOptions): ServiceSet => {
  const wanted = options.wanted ?? KeySet.full
  const candidates = shuffle(candidatesOf(options, wanted), randomNumbers(options.random))
  const assignments: Array<Assignment> = []
  let left = wanted
  let chosen = candidates[0]
  while (chosen !== undefined && !KeySet.isEmpty(left)) {
    const keys = KeySet.intersection(chosen.keys, left)
    assignments.push({ peer: chosen.peer, keys })
    left = KeySet.difference(left, keys)
    chosen.bound = 0n
    chosen = takeBest(candidates, left)
  }
  return { assignments, missing: left }
}

/**
 * Whom to ask next for the keys of an assignment that is late or has failed: a service set of just
 * those keys among the live peers that have not been `tried`. `missing` are the keys for which
 * there is no further replica.
 */
export const nextReplica = (
  options: ServiceSetOptions & { readonly wanted: KeySet; readonly tried: ReadonlySet<PeerId> }
): ServiceSet =>
  serviceSet({
    ...options,
    live: new Set([...options.live].filter((peer) => !options.tried.has(peer)))
  })
