/**
 * A participant puts another out.
 *
 * The Eject alone decides nothing. From now on nobody who knows it takes a state from the ejected;
 * once all survivors have acknowledged it, they decide which of his entries count (see `seal.ts`).
 */
import { Result } from "effect"
import type { Fold } from "./application.ts"
import { appendMembership } from "./change.ts"
import { AuthorityMissing, NotParticipant, SelfEjection } from "./errors.ts"
import { isKnownEjected, isProjectedParticipant } from "./membership.ts"
import type { Participant } from "./participant.ts"
import { sameParticipant } from "./participant.ts"
import { authorityOf } from "./seal.ts"
import { standingOf } from "./standing.ts"
import type { PowerState } from "./state.ts"

/** Why somebody is not ejected. */
export type EjectError = NotParticipant | SelfEjection | AuthorityMissing

/**
 * Ejects `participant`. Nothing changes when that is known already, or when he has left. Refused
 * when those that are left could not decide it. O(pending membership entries, squared).
 */
export const eject = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  command: { readonly issuer: Participant; readonly participant: Participant }
): Result.Result<PowerState<E, O, S>, EjectError> => {
  const { issuer, participant } = command
  if (!isProjectedParticipant(state, issuer)) {
    return Result.fail(new NotParticipant({ participant: issuer }))
  }
  if (sameParticipant(issuer, participant)) return Result.fail(new SelfEjection({ participant }))
  if (isKnownEjected(state, participant)) return Result.succeed(state)
  if (!isProjectedParticipant(state, participant)) {
    return Result.fail(new NotParticipant({ participant }))
  }
  const next = appendMembership(fold, state, (ordinal) => ({
    _tag: "Eject",
    ordinal,
    issuer,
    participant
  }))
  const { needed, present } = authorityOf(next, standingOf(next).survivors)
  return present.length < needed
    ? Result.fail(new AuthorityMissing({ participant, present, needed }))
    : Result.succeed(next)
}
