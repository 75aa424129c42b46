/**
 * What a replica makes of the state of another: it takes it only from one whose word counts.
 *
 *   sender known here to be ejected, or let in by nobody whose Join counts
 *                                nothing is taken, and he is to be told
 *   sender known here to have left
 *                                nothing is taken, as his last state came with his Leave; but that
 *                                the birth is confirmed, which counts whoever says so
 *   receiver ejected, or let in by nobody whose Join counts
 *                                takes what comes, and folds nothing
 *   receiver who has left        takes only that he is let in again, or is gone
 *   anything else is merged.
 *
 * Why it is safe: see `seal.ts`. One whose ejection is decided in what comes takes it from anyone:
 * it cannot be otherwise any more.
 */
import { Result } from "effect"
import type { Fold } from "./application.ts"
import { confirm } from "./confirm.ts"
import type { MembershipEntry } from "./entry.ts"
import type { MergeError } from "./errors.ts"
import { SenderRefused } from "./errors.ts"
import type { EventId } from "./event-id.ts"
import { compareEventIds } from "./event-id.ts"
import {
  isEjecting,
  isKnownEjected,
  isLeaving,
  isProjectedParticipant,
  markOf
} from "./membership.ts"
import type { Merged } from "./merge.ts"
import { folded, unite } from "./merge.ts"
import type { Participant } from "./participant.ts"
import { includesParticipant, sameParticipant } from "./participant.ts"
import { mayFold } from "./seal.ts"
import { standingOf } from "./standing.ts"
import type { PowerState } from "./state.ts"

/** A state on its way from one participant to another. */
export interface Delivery<E, O, S> {
  readonly from: Participant
  readonly to: Participant
  readonly state: PowerState<E, O, S>
}

type AnyState = PowerState<unknown, unknown, unknown>

const isDeparted = ({ infimum }: AnyState, participant: Participant): boolean =>
  infimum.departed.some((each) => sameParticipant(each.participant, participant))

const isKnownLeaver = (state: AnyState, participant: Participant): boolean =>
  isLeaving(state.membership, participant) || isDeparted(state, participant)

const lastLeave = (united: AnyState, sender: Participant): MembershipEntry | undefined =>
  united.membership.findLast(
    (entry) => entry._tag === "Leave" && sameParticipant(entry.issuer, sender)
  )

const isAmong = (membership: ReadonlyArray<MembershipEntry>, id: EventId): boolean =>
  membership.some((entry) => compareEventIds(entry, id) === 0)

/** Whether he has left by all that is known, and his last Leave was known here before. */
const isGone = (local: AnyState, united: AnyState, sender: Participant): boolean => {
  if (isProjectedParticipant(united, sender)) return false
  const last = lastLeave(united, sender)
  return last === undefined ? isDeparted(united, sender) : isAmong(local.membership, last)
}

/**
 * Whether what came says that one who has left is let in again, that his Leave is folded, or that
 * none of his entries ever counted. Nothing else concerns him.
 */
const concernsLeaver = (
  local: AnyState,
  { dropped, state }: Merged<unknown, unknown, unknown>,
  incoming: AnyState,
  self: Participant
): boolean =>
  isProjectedParticipant(state, self) ||
  (isDeparted(incoming, self) && !isDeparted(local, self)) ||
  dropped.length > 0

/**
 * What of the membership says how a sender stood when he sent: the ejections that were known here
 * before, the Joins of him that he himself knew, and of a leaver nothing of his last Leave. What he
 * tells of ejections is news like any other; to refuse him for it would leave those waiting who do
 * not know it. A Join that he did not know vouches for nothing that he holds.
 */
const membershipOf = (
  sides: { readonly local: AnyState; readonly incoming: AnyState; readonly united: AnyState },
  sender: Participant
): ReadonlyArray<MembershipEntry> => {
  const { incoming, local, united } = sides
  const left = isProjectedParticipant(united, sender) ? undefined : lastLeave(united, sender)
  return united.membership.filter((entry) => {
    switch (entry._tag) {
      case "Eject":
        return isEjecting(local.membership, entry.participant)
      case "Join":
        return !sameParticipant(entry.participant, sender) || isAmong(incoming.membership, entry)
      case "Leave":
        return entry !== left
    }
  })
}

/** Whether he is in good standing, or was until a Leave that came just now. */
const isCounted = (
  sides: { readonly local: AnyState; readonly incoming: AnyState; readonly united: AnyState },
  sender: Participant
): boolean =>
  includesParticipant(
    standingOf({ ...sides.united, membership: membershipOf(sides, sender) }).survivors,
    sender
  )

/** Nothing of the state is taken; entries above a Leave are given back to whoever wrote them. */
const untouched = <E, O, S>(
  local: PowerState<E, O, S>,
  { renegades }: Merged<E, O, S>,
  sender: Participant
): Merged<E, O, S> => ({
  state: local,
  outputs: [],
  renegades: renegades.filter((entry) => sameParticipant(entry.issuer, sender)),
  dropped: []
})

/** With the confirmation of the birth, if that is news. */
const confirmedBy = <E, O, S>(
  fold: Fold<E, O, S>,
  merged: Merged<E, O, S>,
  { state: incoming, to }: Delivery<E, O, S>
): Merged<E, O, S> =>
  incoming.isProvisional ? merged : { ...merged, ...confirm(fold, merged.state, to) }

/**
 * The state of `to` after it has heard the state of `from`. Acknowledge afterwards, save together
 * with what was dropped, and only then let the result leave. Costs what a merge costs.
 */
export const hear = <E, O, S>(
  fold: Fold<E, O, S>,
  local: PowerState<E, O, S>,
  delivery: Delivery<E, O, S>
): Result.Result<Merged<E, O, S>, MergeError | SenderRefused> => {
  const { from, state: incoming, to } = delivery
  const result = unite(fold, local, incoming)
  if (Result.isFailure(result)) return Result.fail(result.failure)
  const united = result.success
  const isOutcome = markOf(incoming, to) !== undefined && markOf(local, to) === undefined
  if (isOutcome) return Result.succeed(united)
  if (isKnownEjected(local, from) || markOf(incoming, from) !== undefined) {
    return Result.fail(new SenderRefused({ sender: from, reason: "ejected" }))
  }
  if (isGone(local, united.state, from)) {
    return Result.succeed(confirmedBy(fold, untouched(local, united, from), delivery))
  }
  if (!isCounted({ local, incoming, united: united.state }, from)) {
    return Result.fail(new SenderRefused({ sender: from, reason: "stranger" }))
  }
  const hasLeft = isKnownLeaver(local, to) && !isProjectedParticipant(local, to)
  if (hasLeft && !isKnownEjected(local, to) && !concernsLeaver(local, united, incoming, to)) {
    return Result.succeed({ state: local, outputs: [], renegades: [], dropped: [] })
  }
  return Result.succeed(mayFold(united.state, to) ? folded(fold, local, united) : united)
}
