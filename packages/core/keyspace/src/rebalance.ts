/**
 * A new distribution out of the present one, with as few keys moved as can be.
 *
 *     copies are missing (a member left, the factor rose)      restore: what is missing goes to who
 *                                                              lacks most; nothing else moves
 *     no copy is missing (a member joined, weights changed)    even: who has too much gives to who
 *                                                              has too little
 *
 * 1. The result is a distribution as `distribute` would make: every key has `min(factor, members)`
 *    owners, and the same arguments give the same result.
 * 2. When copies are missing only those are made, so a recovery waits for nothing; what is uneven
 *    after it the next plan evens, with the same members.
 *    A copy goes to a zone that has none while there is one, even if that makes loads uneven.
 * 3. A plan that evens leaves each load within one 1,024th of its quota. From an even distribution
 *    a member that joins takes its quota; with equal weights no key moves but to it.
 * 4. It ends: every step but a detour settles a giver or a taker, and detours are counted. A plan
 *    for an even distribution changes nothing.
 */
import { Result } from "effect"
import { distribute, mergeSegments, orderMembers } from "./distribution.ts"
import type { Distribution } from "./distribution.ts"
import { MembersRefused } from "./errors.ts"
import { even } from "./even.ts"
import type { Member, PeerId } from "./member.ts"
import { cut, give, piecesOf, sizeOf, toSegments, withdraw } from "./pieces.ts"
import type { Piece } from "./pieces.ts"
import { isZoneTaken, lackOf, toleranceOf } from "./plan.ts"
import type { Plan } from "./plan.ts"
import { quotas } from "./quota.ts"

/** The peer that lacks most among those without the piece; zones without it come first. */
const receiverFor = (plan: Plan, piece: Piece): PeerId | undefined => {
  let best: { readonly peer: PeerId; readonly lack: bigint; readonly isApart: boolean } | undefined
  for (const peer of plan.peers) {
    if (piece.owners.includes(peer)) continue
    const lack = lackOf(plan, peer)
    const isApart = !isZoneTaken(plan, piece, peer)
    const isBetter =
      best === undefined ||
      (isApart && !best.isApart) ||
      (isApart === best.isApart && lack > best.lack)
    if (isBetter) best = { peer, lack, isApart }
  }
  return best?.peer
}

/** Takes copies away where there are more than wanted, from who has most above its quota. */
const dropSurplusCopies = (plan: Plan): void => {
  for (const piece of plan.pieces.all) {
    while (piece.owners.length > plan.copies) {
      const donor = piece.owners.reduce((most, owner) =>
        lackOf(plan, owner) < lackOf(plan, most) ? owner : most
      )
      withdraw(plan.pieces, piece, donor)
    }
  }
}

const piecesWithHoles = ({ copies, pieces }: Plan): Array<Piece> =>
  [...pieces.all].filter(({ owners }) => owners.length < copies)

/** Gives the copies that are missing to who lacks most, cutting pieces where that fills a quota. */
const fillHoles = (plan: Plan, open: Array<Piece>): void => {
  for (let piece = open.pop(); piece !== undefined; piece = open.pop()) {
    const receiver = receiverFor(plan, piece)
    if (receiver === undefined) continue
    const lack = lackOf(plan, receiver)
    if (lack > toleranceOf(plan, receiver) && lack < sizeOf(piece)) {
      const rest = cut(plan.pieces, piece, lack)
      if (rest !== undefined) open.push(rest)
    }
    give(plan.pieces, piece, receiver)
    if (piece.owners.length < plan.copies) open.push(piece)
  }
}

const peersOf = (members: ReadonlyArray<Member>): ReadonlyArray<PeerId> =>
  members.map(({ peer }) => peer)

/**
 * Distributes the key space over the members, starting from what the present distribution says.
 * The epoch must be above the present one. Costs about `O(n log n + pieces)` for a join.
 */
export const rebalance = (options: {
  readonly current: Distribution
  readonly members: ReadonlyArray<Member>
  readonly factor?: number
  readonly epoch: number
}): Result.Result<Distribution, MembersRefused> => {
  const { current, epoch, factor = current.factor, members } = options
  if (epoch <= current.epoch) {
    const message = `Epoch ${epoch} does not follow ${current.epoch}; name a higher one.`
    return Result.fail(new MembersRefused({ message }))
  }
  return Result.flatMap(distribute({ members, factor, epoch }), (fresh) =>
    Result.map(orderMembers(members), (ordered): Distribution => {
      const peers = peersOf(ordered)
      const pieces = piecesOf(current, new Set(peers))
      if (pieces.holdings.size === 0) return fresh
      const shares = quotas(
        ordered.map(({ weight = 1 }) => BigInt(weight)),
        factor
      )
      const plan: Plan = {
        pieces,
        peers,
        copies: Math.min(factor, peers.length),
        quotas: new Map(peers.map((peer, index) => [peer, shares[index] ?? 0n] as const)),
        zones: new Map(
          ordered.flatMap(({ peer, zone }) => (zone === undefined ? [] : [[peer, zone] as const]))
        )
      }
      dropSurplusCopies(plan)
      const open = piecesWithHoles(plan)
      if (open.length > 0) fillHoles(plan, open)
      else even(plan)
      return { version: 1, epoch, factor, segments: mergeSegments(toSegments(pieces)) }
    })
  )
}
