/** What changes between two distributions: who gains and who loses which keys. */
import { keysOwnedBy, loadOfPeers } from "./distribution.ts"
import type { Distribution } from "./distribution.ts"
import { KeySet } from "./key-set.ts"
import type { PeerId } from "./member.ts"

/** What one peer gains and loses. */
export interface Movement {
  readonly peer: PeerId
  readonly gains: KeySet
  readonly losses: KeySet
}

/** Every peer that gains or loses keys, in order of their names. */
export const movements = (options: {
  readonly from: Distribution
  readonly to: Distribution
}): ReadonlyArray<Movement> => {
  const peers = new Set([...loadOfPeers(options.from).keys(), ...loadOfPeers(options.to).keys()])
  return [...peers].sort().flatMap((peer) => {
    const before = keysOwnedBy(options.from, peer)
    const now = keysOwnedBy(options.to, peer)
    const gains = KeySet.difference(now, before)
    const losses = KeySet.difference(before, now)
    return KeySet.isEmpty(gains) && KeySet.isEmpty(losses) ? [] : [{ peer, gains, losses }]
  })
}

/** How many copies of keys must be made: the sizes of all gains. */
export const movedKeys = (changes: ReadonlyArray<Movement>): bigint =>
  changes.reduce((sum, { gains }) => sum + KeySet.size(gains), 0n)
