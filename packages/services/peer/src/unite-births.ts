/**
 * Makes one partition of two births: while keys move, owners by the old distribution and by the new
 * one may each create a partition of one key.
 *
 *     born under epoch 3 by a, b, c    a1 b1           ──▶ stays
 *     born under epoch 4 by b, c, d          d1 d2     ──▶ its pending requests join the other
 *
 * 1. A birth under an epoch above the first is provisional: it folds nothing until a sweep of the
 *    cluster has shown that each owner knows the first birth of each of its keys. So at most one
 *    was confirmed, and that one stays. If neither was, the one of the lower epoch stays. So all
 *    choose alike (docs/adr/0009).
 * 2. The requests of the other are pending, all of them, and are applied to the one that stays
 *    under their own ids: each counts once, whoever brings it.
 * 3. Only who takes part in the one that stays can do that. Others keep what they have until they
 *    are let in, or, where they own the key no more, until the one that stays knows all of it;
 *    their requests are brought by those who took part in both.
 */
import type { Participant } from "@holdfast/power-state"
import { includesParticipant } from "@holdfast/power-state"
import { ServiceError } from "@holdfast/wire"
import { Result } from "effect"
import type { PendingRequest, Replica } from "./replica.ts"
import { submitAgain } from "./submit-again.ts"

/** Two births of one partition at a peer. */
export interface TwoBirths {
  readonly local: Replica
  readonly incoming: Replica
  readonly self: Participant
  /** Whether this peer owns the key no more. */
  readonly isReleased: boolean
}

const different = (what: string): ServiceError =>
  new ServiceError({ code: "different-origins", message: `the partition was born twice; ${what}` })

/** Which birth stays; none when each was confirmed, which must not be. */
const remaining = ({ incoming, local }: TwoBirths): Replica | null => {
  if (!local.isProvisional() && !incoming.isProvisional()) return null
  if (local.isProvisional() !== incoming.isProvisional()) {
    return local.isProvisional() ? incoming : local
  }
  return local.birthEpoch() < incoming.birthEpoch() ? local : incoming
}

const isIn =
  (replica: Replica) =>
  ({ request }: PendingRequest): boolean =>
    request !== null && replica.knowsRequest(request)

/** The birth that stays, with all that the other one brings; null when nothing is left to keep. */
export const uniteBirths = (births: TwoBirths): Result.Result<Replica | null, ServiceError> => {
  const { incoming, isReleased, local, self } = births
  const stays = remaining(births)
  if (stays === null) {
    return Result.fail(different("both were confirmed, which is a fault of this program"))
  }
  if (!includesParticipant(stays.participants(), self)) {
    const isKnown = stays === incoming && local.pendingRequests().every(isIn(incoming))
    return isReleased && isKnown
      ? Result.succeed(null)
      : Result.fail(different("this peer does not take part in the one that stays yet"))
  }
  const goes = stays === local ? incoming : local
  return Result.map(
    submitAgain(stays, goes.pendingRequests(), { issuer: self }),
    ({ replica }) => replica
  )
}
