/**
 * Brings the pending entries of two replicas together, above one infimum.
 *
 * An entry at or below the infimum was folded, if its ordinal is at most the last folded one of its
 * issuer; anything else is renegade. So is an entry whose issuer took no part where it stands, and
 * one above the mark of an issuer who was ejected.
 */
import { Result } from "effect"
import type { Entry } from "./entry.ts"
import { sameBody } from "./entry.ts"
import { ConflictingEvent } from "./errors.ts"
import type { EventId } from "./event-id.ts"
import { compareEventIds, compareMarks, eventIdOf } from "./event-id.ts"
import { sameParticipant } from "./participant.ts"
import type { Sequence } from "./sequence.ts"
import { itemAt, sizeOf } from "./sequence.ts"
import type { Infimum, Seal } from "./state.ts"
import { validityWalk } from "./validity.ts"

/** The union of two lists of entries; `left` and `right` say where each stood, -1 for nowhere. */
export interface Union<E> {
  readonly entries: ReadonlyArray<Entry<E>>
  readonly left: ReadonlyArray<number>
  readonly right: ReadonlyArray<number>
  readonly renegades: ReadonlyArray<Entry<E>>
  /** Those of the renegades that stood on the left. */
  readonly dropped: ReadonlyArray<Entry<E>>
}

interface Draft<E> {
  readonly entries: Array<Entry<E>>
  readonly left: Array<number>
  readonly right: Array<number>
  readonly renegades: Array<Entry<E>>
  readonly dropped: Array<Entry<E>>
}

/** Whether an entry is part of what was folded. */
export const isFolded = (infimum: Infimum<unknown>, entry: EventId): boolean => {
  if (compareMarks(entry, infimum.id) > 0) return false
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

/** Takes out the entries that do not count. */
const withoutRenegades = <E>(
  { infimum, seals }: FixedHistory,
  { dropped, entries, left, renegades, right }: Draft<E>
): Union<E> => {
  const isValid = validityWalk(infimum, seals)
  const kept: Draft<E> = { entries: [], left: [], right: [], renegades, dropped }
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index]!
    if (isValid(entry)) take(kept, entry, left[index]!, right[index]!)
    else {
      renegades.push(entry)
      if (left[index] !== NOWHERE) dropped.push(entry)
    }
  }
  return kept
}

/** What is decided: what was folded, and which ejected participants' entries count. */
export interface FixedHistory {
  readonly infimum: Infimum<unknown>
  readonly seals: ReadonlyArray<Seal>
}

/** The entries of both sides above the infimum, ascending. Linear in both. */
export const uniteEntries = <E>(
  history: FixedHistory,
  left: Sequence<Entry<E>>,
  right: Sequence<Entry<E>>
): Result.Result<Union<E>, ConflictingEvent> => {
  const { infimum } = history
  const union: Draft<E> = { entries: [], left: [], right: [], renegades: [], dropped: [] }
  const startLeft = skipFolded(infimum, left, union.dropped)
  union.renegades.push(...union.dropped)
  const starts = { left: startLeft, right: skipFolded(infimum, right, union.renegades) }
  const conflict = unite(union, left, right, starts)
  return conflict === null
    ? Result.succeed(withoutRenegades(history, union))
    : Result.fail(conflict)
}
