/**
 * Which pending entries count, walked in their order.
 *
 * 1. An entry counts if its issuer takes part where it stands.
 * 2. Of an ejected issuer the entries up to his mark count, also behind his ejection; while that is
 *    not decided, all do.
 */
import type { Entry } from "./entry.ts"
import { isEjectedMember, isMember, markOf } from "./membership.ts"
import { draftOf, foldMembership } from "./membership-draft.ts"
import type { Infimum, Seal } from "./state.ts"

/** Says of entry after entry, ascending, whether it counts. */
export const validityWalk = (
  infimum: Infimum<unknown>,
  seals: ReadonlyArray<Seal>
): ((entry: Entry<unknown>) => boolean) => {
  const draft = draftOf(infimum, seals)
  const isAnyoneOut = seals.length > 0 || infimum.departed.some((each) => each.reason === "ejected")
  const counts = (entry: Entry<unknown>): boolean => {
    const mark = isAnyoneOut ? markOf({ infimum, seals }, entry.issuer) : undefined
    if (mark !== undefined && entry.ordinal > mark) return false
    return isMember(draft.members, entry.issuer) || isEjectedMember(infimum, entry.issuer)
  }
  return (entry) => {
    const isValid = counts(entry)
    if (isValid && (entry._tag === "Join" || entry._tag === "Leave")) foldMembership(draft, entry)
    return isValid
  }
}
