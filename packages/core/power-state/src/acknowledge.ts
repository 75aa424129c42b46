/**
 * A participant says that he holds all that this replica knows, durably; then what is due is
 * decided and folded.
 */
import { Result } from "effect"
import { acknowledgeThrough, heldThrough } from "./acknowledgement.ts"
import type { Fold } from "./application.ts"
import { NotParticipant } from "./errors.ts"
import { isKnownEjected, isLeaving, isMember, isProjectedParticipant } from "./membership.ts"
import type { Participant } from "./participant.ts"
import type { Reduced } from "./reduce.ts"
import { reduce } from "./reduce.ts"
import { mayFold, seal } from "./seal.ts"
import { sizeOf } from "./sequence.ts"
import type { PowerState } from "./state.ts"

/** Folds and decides in turn: folding changes who decides, a decision lets more be folded. */
export const settleHistory = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  self: Participant
): Reduced<E, O, S> => {
  if (!mayFold(state, self)) return { state, outputs: [] }
  let reduced = reduce(fold, state)
  for (;;) {
    const sealed = seal(reduced.state, self)
    if (sealed === reduced.state) return reduced
    const next = reduce(fold, sealed)
    reduced = { state: next.state, outputs: [...reduced.outputs, ...next.outputs] }
  }
}

/**
 * Acknowledges every pending entry as `participant`, whose replica this is, decides the ejections
 * that are due, and folds what that allows. The same state comes back when nothing is new; a state
 * that is new is worth sending. One who has left keeps his last word, and one who is ejected has
 * none: nothing changes. O(participants), plus the entries that are folded.
 */
export const acknowledge = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  participant: Participant
): Result.Result<Reduced<E, O, S>, NotParticipant> => {
  if (isKnownEjected(state, participant)) return Result.succeed({ state, outputs: [] })
  if (!isProjectedParticipant(state, participant)) {
    const isLeaver =
      isLeaving(state.membership, participant) || isMember(state.infimum.members, participant)
    return isLeaver
      ? Result.succeed(settleHistory(fold, state, participant))
      : Result.fail(new NotParticipant({ participant }))
  }
  const end = state.infimum.count + sizeOf(state.entries)
  if (sizeOf(state.entries) === 0 || heldThrough(state.acknowledgements, participant) === end) {
    return Result.succeed(settleHistory(fold, state, participant))
  }
  const acknowledgements = acknowledgeThrough(state.acknowledgements, participant, end)
  return Result.succeed(settleHistory(fold, { ...state, acknowledgements }, participant))
}

/**
 * The same for another: he has answered that he durably holds this very state. The caller must know
 * that he holds all of it and nothing beyond it; his digest of it says so.
 */
export const acknowledgeAs = acknowledge
