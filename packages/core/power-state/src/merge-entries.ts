/**
 * Brings the pending entries of two replicas together, above one infimum.
 *
 * An entry at or below the infimum was folded, if its ordinal is at most the last folded one of its
 * issuer; anything else is renegade. So is an entry whose issuer took no part where it stands.
 */
import { Result } from "effect"
import type { Entry, MembershipEntry } from "./entry.ts"
import { sameBody } from "./entry.ts"
import { ConflictingEvent } from "./errors.ts"
import { compareEventIds, compareMarks, eventIdOf } from "./event-id.ts"
import type { MembershipDraft } from "./membership.ts"
import { draftOf, isMember, joinMember, leaveMember } from "./membership.ts"
import { sameParticipant } from "./participant.ts"
import type { Sequence } from "./sequence.ts"
import { itemAt, sizeOf } from "./sequence.ts"
import type { Infimum } from "./state.ts"

/** The union of two lists of entries; `left` and `right` say where each stood, -1 for nowhere. */
export interface Union<E> {
  readonly entries: ReadonlyArray<Entry<E>>
  readonly left: ReadonlyArray<number>
  readonly right: ReadonlyArray<number>
  readonly renegades: ReadonlyArray<Entry<E>>
}

interface Draft<E> {
  readonly entries: Array<Entry<E>>
  readonly left: Array<number>
  readonly right: Array<number>
  readonly renegades: Array<Entry<E>>
}

/** Whether an entry at or below the infimum is part of what was folded. */
export const isFolded = <S>(infimum: Infimum<S>, entry: Entry<unknown>): boolean => {
  const known =
    infimum.members.find((each) => sameParticipant(each.participant, entry.issuer))?.folded ??
    infimum.departed.find((each) => sameParticipant(each.participant, entry.issuer))?.mark
  return known !== undefined && entry.ordinal <= known
}

/** Skips the entries at or below the infimum, and says which of them are renegade. */
const skipFolded = <E, S>(
  infimum: Infimum<S>,
  entries: Sequence<Entry<E>>,
  renegades: Array<Entry<E>>
): number => {
  let index = 0
  while (index < sizeOf(entries) && compareMarks(itemAt(entries, index), infimum.id) <= 0) {
    const entry = itemAt(entries, index)
    if (!isFolded(infimum, entry)) renegades.push(entry)
    index += 1
  }
  return index
}

const take = <E>(draft: Draft<E>, entry: Entry<E>, left: number, right: number): void => {
  draft.entries.push(entry)
  draft.left.push(left)
  draft.right.push(right)
}

const NOWHERE = -1

const unite = <E>(
  draft: Draft<E>,
  left: Sequence<Entry<E>>,
  right: Sequence<Entry<E>>,
  starts: { readonly left: number; readonly right: number }
): ConflictingEvent | null => {
  let atLeft = starts.left
  let atRight = starts.right
  while (atLeft < sizeOf(left) || atRight < sizeOf(right)) {
    const one = atLeft < sizeOf(left) ? itemAt(left, atLeft) : null
    const other = atRight < sizeOf(right) ? itemAt(right, atRight) : null
    const order =
      one === null ? 1 : other === null ? -1 : one === other ? 0 : compareEventIds(one, other)
    if (order < 0 && one !== null) take(draft, one, atLeft++, NOWHERE)
    else if (order > 0 && other !== null) take(draft, other, NOWHERE, atRight++)
    else if (one !== null && other !== null) {
      if (!sameBody(one, other)) return new ConflictingEvent({ id: eventIdOf(one) })
      take(draft, one, atLeft++, atRight++)
    }
  }
  return null
}

const step = (draft: MembershipDraft, entry: MembershipEntry): void => {
  if (entry._tag === "Join") joinMember(draft, entry.participant)
  else leaveMember(draft, entry.issuer)
}

/** Takes out the entries whose issuer took no part where they stand. */
const withoutRenegades = <E, S>(infimum: Infimum<S>, union: Draft<E>): Union<E> => {
  const membership = draftOf(infimum)
  const kept: Draft<E> = { entries: [], left: [], right: [], renegades: union.renegades }
  for (let index = 0; index < union.entries.length; index += 1) {
    const entry = union.entries[index]!
    if (isMember(membership.members, entry.issuer)) {
      take(kept, entry, union.left[index]!, union.right[index]!)
      if (entry._tag !== "Event") step(membership, entry)
    } else kept.renegades.push(entry)
  }
  return kept
}

/** The entries of both sides above the infimum, ascending. Linear in both. */
export const uniteEntries = <E, S>(
  infimum: Infimum<S>,
  left: Sequence<Entry<E>>,
  right: Sequence<Entry<E>>
): Result.Result<Union<E>, ConflictingEvent> => {
  const union: Draft<E> = { entries: [], left: [], right: [], renegades: [] }
  const starts = {
    left: skipFolded(infimum, left, union.renegades),
    right: skipFolded(infimum, right, union.renegades)
  }
  const conflict = unite(union, left, right, starts)
  return conflict === null
    ? Result.succeed(withoutRenegades(infimum, union))
    : Result.fail(conflict)
}
