/** A plan in the making: its pieces, and who should hold how much of them. */
import type { PeerId } from "./member.ts"
import type { Piece, Pieces } from "./pieces.ts"

/** A load this near to its quota, as a part of it, is even. */
const TOLERANCE = 1_024n

/** What a plan is made with. */
export interface Plan {
  readonly pieces: Pieces
  readonly copies: number
  readonly quotas: ReadonlyMap<PeerId, bigint>
  readonly zones: ReadonlyMap<PeerId, string>
  readonly peers: ReadonlyArray<PeerId>
}

/** How many keys a peer lacks to its quota; negative if it has too many. */
export const lackOf = ({ pieces, quotas: shares }: Plan, peer: PeerId): bigint =>
  (shares.get(peer) ?? 0n) - (pieces.loads.get(peer) ?? 0n)

/** How far from its quota a peer's load may be and count as even. */
export const toleranceOf = (plan: Plan, peer: PeerId): bigint =>
  (plan.quotas.get(peer) ?? 0n) / TOLERANCE + 1n

/** Whether one of the others holds a piece in the peer's zone. */
export const isZoneTaken = (plan: Plan, piece: Piece, peer: PeerId, without?: PeerId): boolean => {
  const zone = plan.zones.get(peer)
  if (zone === undefined) return false
  return piece.owners.some((owner) => owner !== without && plan.zones.get(owner) === zone)
}
