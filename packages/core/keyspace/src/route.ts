/**
 * Routes: in which order to ask the owners of a key.
 *
 * 1. A route names every owner of the key exactly once and nobody else.
 * 2. Equal arguments give equal routes; the rotation that arrives alone decides who is first, save
 *    that `first` comes first if it owns the key and peers in `last` come after all others.
 */
import { Result } from "effect"
import { ownersOf } from "./distribution.ts"
import type { Distribution } from "./distribution.ts"
import { NoOwner } from "./errors.ts"
import type { PeerId } from "./member.ts"
import type { PartitionKey } from "./partition-key.ts"

/**
 * The owners of a key in the order to ask them. `rotation` is any safe integer: `keyRotation(key)`
 * keeps each key with one first owner, a random number spreads the load of a hot key. `first` is
 * the asker itself, which saves a message; `last` are the peers thought to be down.
 */
export const route = (options: {
  readonly distribution: Distribution
  readonly key: PartitionKey
  readonly rotation: number
  readonly first?: PeerId
  readonly last?: ReadonlySet<PeerId>
}): Result.Result<ReadonlyArray<PeerId>, NoOwner> => {
  const { distribution, first, key, last, rotation } = options
  const owners = ownersOf(distribution, key)
  if (owners.length === 0) {
    const message = `Nobody owns key ${key} at epoch ${distribution.epoch}; add a peer first.`
    return Result.fail(new NoOwner({ message }))
  }
  const start = ((rotation % owners.length) + owners.length) % owners.length
  const rotated = [...owners.slice(start), ...owners.slice(0, start)]
  const rank = (peer: PeerId): number => (peer === first ? 0 : last?.has(peer) ? 2 : 1)
  return Result.succeed(rotated.sort((a, b) => rank(a) - rank(b)))
}
