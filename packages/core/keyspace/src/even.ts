/**
 * Evening: keys pass from who has too many to who has too few.
 *
 * 1. A key never passes to who holds it already, so the number of owners of each stays.
 * 2. Each direct passing settles a giver or a taker, or finds that nothing can pass between them.
 * 3. Detours over a third peer are few: four for each peer at most.
 */
import type { PeerId } from "./member.ts"
import { cut, pass, sizeOf } from "./pieces.ts"
import type { Piece } from "./pieces.ts"
import { isZoneTaken, lackOf, toleranceOf } from "./plan.ts"
import type { Plan } from "./plan.ts"

/** Detours that a plan may take for each peer. */
const DETOURS_A_PEER = 4

const compareNumbers = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Pieces that a donor may pass to a receiver: first those that keep zones apart; then the smallest,
 * so that passing uses up the fragments of earlier plans; then in order.
 */
const passable = (plan: Plan, donor: PeerId, receiver: PeerId): ReadonlyArray<Piece> => {
  const held = [...(plan.pieces.holdings.get(donor) ?? [])].filter(
    ({ owners }) => !owners.includes(receiver)
  )
  const rank = (piece: Piece): number => (isZoneTaken(plan, piece, receiver, donor) ? 1 : 0)
  return held.sort(
    (a, b) =>
      rank(a) - rank(b) || compareNumbers(sizeOf(a), sizeOf(b)) || compareNumbers(a.from, b.from)
  )
}

const total = (pieces: ReadonlyArray<Piece>): bigint =>
  pieces.reduce((sum, piece) => sum + sizeOf(piece), 0n)

/** Passes up to `keys` keys from a donor to a receiver; answers how many it passed. */
const passKeys = (plan: Plan, donor: PeerId, receiver: PeerId, keys: bigint): bigint => {
  let left = keys
  for (const piece of passable(plan, donor, receiver)) {
    if (left <= 0n) break
    cut(plan.pieces, piece, left)
    left -= sizeOf(piece)
    pass(plan.pieces, piece, donor, receiver)
  }
  return keys - left
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Whether a peer's load is far from its quota, above or below. */
const isUneven = (plan: Plan, peer: PeerId): boolean => {
  const lack = lackOf(plan, peer)
  return (lack < 0n ? -lack : lack) > toleranceOf(plan, peer)
}

/** Who has more than its quota, most first, for a peer that lacks; who lacks, for one that has. */
const partnersOf = (plan: Plan, peer: PeerId): ReadonlyArray<PeerId> => {
  const sign = lackOf(plan, peer) > 0n ? 1n : -1n
  return plan.peers
    .filter((other) => sign * lackOf(plan, other) < 0n)
    .sort((a, b) => compareNumbers(sign * lackOf(plan, a), sign * lackOf(plan, b)))
}

/** A giver and a taker, whichever of the two is which. */
interface Pair {
  readonly giver: PeerId
  readonly taker: PeerId
}

const pairOf = (plan: Plan, peer: PeerId, partner: PeerId): Pair =>
  lackOf(plan, peer) > 0n ? { giver: partner, taker: peer } : { giver: peer, taker: partner }

/** How many keys would bring the nearer of the two to its quota. */
const wantedBy = (plan: Plan, { giver, taker }: Pair): bigint =>
  least(lackOf(plan, taker), -lackOf(plan, giver))

/** Moves keys from who has too many straight to who has too few. */
const passDirectly = (plan: Plan): void => {
  for (const peer of plan.peers) {
    if (!isUneven(plan, peer)) continue
    for (const partner of partnersOf(plan, peer)) {
      if (!isUneven(plan, peer)) break
      const pair = pairOf(plan, peer, partner)
      passKeys(plan, pair.giver, pair.taker, wantedBy(plan, pair))
    }
  }
}

/** Where a giver has nothing that the taker does not hold too, a third peer stands between. */
const passBy = (plan: Plan, pair: Pair): boolean => {
  const { giver, taker } = pair
  const wanted = wantedBy(plan, pair)
  for (const between of plan.peers) {
    if (between === giver || between === taker) continue
    const possible = least(
      total(passable(plan, giver, between)),
      total(passable(plan, between, taker))
    )
    if (possible === 0n) continue
    const keys = passKeys(plan, between, taker, least(wanted, possible))
    passKeys(plan, giver, between, keys)
    return true
  }
  return false
}

const takeDetour = (plan: Plan): boolean =>
  plan.peers.some(
    (peer) =>
      isUneven(plan, peer) &&
      partnersOf(plan, peer).some((partner) => passBy(plan, pairOf(plan, peer, partner)))
  )

/** Moves keys until all are even, as far as the weights allow. */
export const even = (plan: Plan): void => {
  passDirectly(plan)
  for (let detours = 0; detours < DETOURS_A_PEER * plan.peers.length; detours++) {
    if (!takeDetour(plan)) return
    passDirectly(plan)
  }
}
