/**
 * The pieces that a new plan is cut from: the segments of a distribution while they are changed.
 *
 * 1. The pieces always cover the key space without a gap or an overlap.
 * 2. `holdings` has, for each peer, exactly the pieces that it owns; `loads` their sizes summed.
 * 3. Nobody owns a piece twice.
 */
import type { Distribution, Segment } from "./distribution.ts"
import type { PeerId } from "./member.ts"
import { keyFromBigInt, keyToBigInt } from "./partition-key.ts"

/** A range of keys, both ends included, and who holds it. */
export interface Piece {
  from: bigint
  to: bigint
  owners: Array<PeerId>
}

/** All pieces, by who holds them. */
export interface Pieces {
  readonly all: Set<Piece>
  readonly holdings: Map<PeerId, Set<Piece>>
  readonly loads: Map<PeerId, bigint>
}

/** How many keys a piece has. */
export const sizeOf = ({ from, to }: Piece): bigint => to - from + 1n

const addLoad = (pieces: Pieces, peer: PeerId, keys: bigint): void => {
  pieces.loads.set(peer, (pieces.loads.get(peer) ?? 0n) + keys)
}

const hold = (pieces: Pieces, peer: PeerId, piece: Piece): void => {
  const held = pieces.holdings.get(peer)
  if (held === undefined) pieces.holdings.set(peer, new Set([piece]))
  else held.add(piece)
}

/** The pieces of a distribution without the peers that are no longer members. */
export const piecesOf = (distribution: Distribution, members: ReadonlySet<PeerId>): Pieces => {
  const pieces: Pieces = { all: new Set(), holdings: new Map(), loads: new Map() }
  for (const { from, owners, to } of distribution.segments) {
    const piece: Piece = {
      from: keyToBigInt(from),
      to: keyToBigInt(to),
      owners: owners.filter((owner) => members.has(owner))
    }
    pieces.all.add(piece)
    for (const owner of piece.owners) {
      hold(pieces, owner, piece)
      addLoad(pieces, owner, sizeOf(piece))
    }
  }
  return pieces
}

/**
 * Cuts a piece to its first `keys` keys; answers the rest, a piece of its own that is owned alike.
 */
export const cut = (pieces: Pieces, piece: Piece, keys: bigint): Piece | undefined => {
  if (keys >= sizeOf(piece)) return undefined
  const rest: Piece = { from: piece.from + keys, to: piece.to, owners: [...piece.owners] }
  piece.to = rest.from - 1n
  pieces.all.add(rest)
  for (const owner of rest.owners) hold(pieces, owner, rest)
  return rest
}

/** Gives a piece to a further owner. */
export const give = (pieces: Pieces, piece: Piece, receiver: PeerId): void => {
  piece.owners.push(receiver)
  hold(pieces, receiver, piece)
  addLoad(pieces, receiver, sizeOf(piece))
}

/** Takes a piece from an owner. */
export const withdraw = (pieces: Pieces, piece: Piece, owner: PeerId): void => {
  piece.owners = piece.owners.filter((other) => other !== owner)
  pieces.holdings.get(owner)?.delete(piece)
  addLoad(pieces, owner, -sizeOf(piece))
}

/** Puts a receiver in a donor's place, so that the order of the owners stays. */
export const pass = (pieces: Pieces, piece: Piece, donor: PeerId, receiver: PeerId): void => {
  piece.owners = piece.owners.map((owner) => (owner === donor ? receiver : owner))
  pieces.holdings.get(donor)?.delete(piece)
  hold(pieces, receiver, piece)
  addLoad(pieces, donor, -sizeOf(piece))
  addLoad(pieces, receiver, sizeOf(piece))
}

const isSameSet = (a: ReadonlyArray<PeerId>, b: ReadonlyArray<PeerId>): boolean =>
  a.length === b.length && a.every((peer) => b.includes(peer))

/** The pieces as segments in order; neighbours with the same owners become one. */
export const toSegments = (pieces: Pieces): ReadonlyArray<Segment> => {
  const ordered = [...pieces.all].sort((a, b) => (a.from < b.from ? -1 : 1))
  const joined: Array<Piece> = []
  for (const piece of ordered) {
    const last = joined.at(-1)
    if (last !== undefined && isSameSet(last.owners, piece.owners)) last.to = piece.to
    else joined.push({ ...piece })
  }
  return joined.map(({ from, owners, to }) => ({
    from: keyFromBigInt(from),
    to: keyFromBigInt(to),
    owners
  }))
}
