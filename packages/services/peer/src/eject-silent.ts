/**
 * Puts out who has been silent for too long, where the operator asked for that.
 *
 *     silent for `ejectSilentMillis` ──▶ the first live member ejects him ──▶ his keys are copied
 *                                                 he comes back ──▶ reintegrates (`reintegrate.ts`)
 *
 * A silent member holds up what all must acknowledge: entries stay pending, keys do not move. So
 * this is what ends his say without a person; what only he holds counts again when he is back.
 *
 * 1. One at a time, and only while more than half of the members are live: who hears nobody is cut
 *    off himself, or was stalled, and decides nothing.
 * 2. Who was never heard counts as silent since this process began.
 */
import { formatLife, memberOf } from "@holdfast/cluster"
import type { PeerId } from "@holdfast/keyspace"
import { makeRequestId, type ServiceError } from "@holdfast/wire"
import { Effect } from "effect"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { recordEjection } from "./membership-handlers.ts"

/** The member that has been silent longest, if for too long; null where it is not for this peer. */
const tooSilent = ({ membership, settings, view }: AntiEntropyContext): PeerId | null => {
  const { ejectSilentMillis } = settings.times
  const live = [...view.live()].sort()
  const members = membership.agreed.members.map(({ peer }) => peer)
  const isMajority = live.length > members.length / 2
  if (!isMajority || live[0] !== view.self.peer) return null
  // Whom somebody has put out already is waited for.
  if (members.some((peer) => memberOf(membership.projected, peer) === undefined)) return null
  const [longest] = members
    .filter((peer) => peer !== view.self.peer)
    .sort((left, right) => view.silentFor(right) - view.silentFor(left))
  return longest !== undefined && view.silentFor(longest) > ejectSilentMillis ? longest : null
}

/** Ejects a member that has been silent for too long, if it is for this peer to do. */
export const ejectSilent = Effect.fnUntraced(function* (
  context: AntiEntropyContext
): Effect.fn.Return<void, ServiceError> {
  const peer = tooSilent(context)
  const member = peer === null ? undefined : memberOf(context.membership.projected, peer)
  if (member === undefined) return
  yield* recordEjection(context, member, yield* makeRequestId)
  yield* Effect.logWarning("a member was silent for too long and is ejected", formatLife(member))
})
