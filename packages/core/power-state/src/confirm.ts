/**
 * Confirms a provisional birth: it is known to be the one that counts.
 *
 * Who confirms must know that no other birth of the object counts, and that nobody creates one any
 * more; all others learn it from him by merging.
 */
import { settleHistory } from "./acknowledge.ts"
import type { Fold } from "./application.ts"
import type { Participant } from "./participant.ts"
import type { Reduced } from "./reduce.ts"
import type { PowerState } from "./state.ts"

/**
 * Confirms the birth at the replica of `self`, and folds what all have acknowledged. The same state
 * comes back when it was confirmed before. O(participants), plus the entries that are folded.
 */
export const confirm = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  self: Participant
): Reduced<E, O, S> =>
  state.isProvisional
    ? settleHistory(fold, { ...state, isProvisional: false }, self)
    : { state, outputs: [] }
