/**
 * Takes part in a sweep: after it each owner of a key knows the first birth of it.
 *
 *     keys move ──▶ births by the old distribution and by the new one ──▶ both take writes
 *     all know of the sweep, compared, let go ──▶ Swept ──▶ all have ──▶ first births are confirmed
 *
 * Why it is safe. Who knows of the sweep creates nothing by an earlier distribution, and hears
 * nobody who was ejected before it began; he says so with his signs of life. So when this peer has
 * compared itself with another since he said so, it holds whatever he holds of its keys, and
 * nothing earlier can come from him. What he holds and does not own he has left to its owners, who
 * have acknowledged it, or have left it before, and know its birth as well. If somebody is ejected
 * meanwhile the sweep begins anew, as he may have told others what he told this peer not.
 *
 * 1. A peer has swept when it has compared itself so with each other member, and each owner of what
 *    it holds and does not own knows the birth of that.
 * 2. When all have swept, owners confirm the births that they hold, and create confirmed ones.
 * 3. A member that is silent holds up confirmations until it is back or ejected. Writes and
 *    searches go on: what is not confirmed is only not folded.
 */
import { PartitionStore, type PartitionStoreError } from "@holdfast/storage"
import type { Messaging } from "@holdfast/messaging"
import { makeRequestId, type ServiceError } from "@holdfast/wire"
import { Effect } from "effect"
import { compareWith } from "./keep-in-touch.ts"
import { recordChange } from "./membership-handlers.ts"
import type { PeerParts } from "./peer.ts"
import { releaseUnowned } from "./release.ts"

/** Lets go of what this peer does not own, and says when it has swept. */
export const letGoAndSweep = Effect.fnUntraced(function* (
  parts: PeerParts
): Effect.fn.Return<void, ServiceError | PartitionStoreError, Messaging | PartitionStore> {
  const { completeness, identity, membership, view } = parts
  const { peer, incarnation } = identity
  const { round } = membership
  const held = yield* releaseUnowned(parts)
  const isMissing = ({ sweep }: typeof membership.agreed): boolean =>
    sweep.round === round && sweep.missing.includes(peer)
  if (!isMissing(membership.agreed) || !isMissing(membership.projected)) return
  for (const other of completeness.notSwept()) {
    // Who does not answer now is asked again.
    if (view.roundOf(other) >= round) yield* Effect.ignore(compareWith(parts, other))
  }
  if (held > 0 || !isMissing(membership.agreed) || completeness.notSwept().length > 0) return
  const event = { _tag: "Swept", peer, incarnation, round } as const
  yield* recordChange(parts, { event, request: yield* makeRequestId })
})
