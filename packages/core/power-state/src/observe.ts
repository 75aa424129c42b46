/**
 * What can be read from a state.
 */
import { covers, findAcknowledgement, saysAnything } from "./acknowledgement.ts"
import {
  finishDigest,
  hasherFrom,
  mixEventId,
  mixNumber,
  mixParticipant,
  mixText
} from "./digest.ts"
import type { Entry } from "./entry.ts"
import type { EventId } from "./event-id.ts"
import { compareEventIds, compareMarks, eventIdOf } from "./event-id.ts"
import {
  everybody,
  isKnownEjected,
  isLeaving,
  isProjectedParticipant,
  markOf,
  projectedMembers
} from "./membership.ts"
import type { Participant } from "./participant.ts"
import { sameParticipant } from "./participant.ts"
import { findRequest } from "./request-log.ts"
import { openEjections } from "./seal.ts"
import { itemAt, sizeOf, toArray } from "./sequence.ts"
import { placeOfId } from "./standing.ts"
import type { PowerState } from "./state.ts"

type AnyState<S> = PowerState<unknown, unknown, S>

/** The value after all that this replica knows. O(1). */
export const projectedValue = <S>(state: AnyState<S>): S => state.projection.value

/** The value that every participant has acknowledged. O(1). */
export const infimumValue = <S>(state: AnyState<S>): S => state.infimum.value

/** Whether the birth waits to be confirmed, and nothing can be folded. */
export const isProvisional = (state: AnyState<unknown>): boolean => state.isProvisional

/** The last folded id; null at birth. */
export const infimumId = (state: AnyState<unknown>): EventId | null => state.infimum.id

/** How many entries are not folded yet. O(1). */
export const pendingCount = (state: AnyState<unknown>): number => sizeOf(state.entries)

/** The entries that are not folded yet, ascending. */
export const pendingEntries = <E>(
  state: PowerState<E, unknown, unknown>
): ReadonlyArray<Entry<E>> => toArray(state.entries)

/** The participants whose acknowledgement folds entries. */
export const infimumParticipants = (state: AnyState<unknown>): ReadonlyArray<Participant> =>
  state.infimum.members.map((member) => member.participant)

/** The participants once all pending joins, leaves and ejections are folded. */
export const projectedParticipants = (state: AnyState<unknown>): ReadonlyArray<Participant> =>
  projectedMembers(state)

/** Everyone who must still hear of the object, also who is about to leave or to be ejected. */
export const allParticipants = (state: AnyState<unknown>): ReadonlyArray<Participant> =>
  everybody(state.infimum, state.membership)

/** A participant who has not acknowledged all, with the oldest entry that he may lack. */
export interface Divergent {
  readonly participant: Participant
  readonly oldest: EventId
}

const firstMissing = <E>(
  state: PowerState<E, unknown, unknown>,
  participant: Participant
): EventId | null => {
  const record = findAcknowledgement(state.acknowledgements, participant)
  const through = Math.max(0, (record?.through ?? 0) - state.infimum.count)
  return through < sizeOf(state.entries) ? eventIdOf(itemAt(state.entries, through)) : null
}

/**
 * Who has not acknowledged everything, and since which entry. Someone who leaves has said his last
 * word and is not waited for. O(participants).
 */
export const divergent = (state: AnyState<unknown>): ReadonlyArray<Divergent> =>
  projectedParticipants(state).flatMap((participant) => {
    const oldest = firstMissing(state, participant)
    return oldest === null ? [] : [{ participant, oldest }]
  })

/**
 * Who is known to hold an entry: the participants of the infimum if it is folded. One who is
 * ejected does not count: what he holds may never come back.
 */
export const holders = (state: AnyState<unknown>, id: EventId): ReadonlyArray<Participant> => {
  const isCounted = (participant: Participant) => !isKnownEjected(state, participant)
  if (compareMarks(id, state.infimum.id) <= 0) return infimumParticipants(state).filter(isCounted)
  const index = placeOfId(state.entries, id)
  if (index === sizeOf(state.entries)) return []
  if (compareEventIds(itemAt(state.entries, index), id) !== 0) return []
  const position = state.infimum.count + index
  return state.acknowledgements.flatMap((record) =>
    covers(record, position) && isCounted(record.participant) ? [record.participant] : []
  )
}

/**
 * Whether anything that is known was issued or acknowledged by the participant: then there is, or
 * was, a store that holds it. O(pending).
 */
export const hasHeardFrom = (state: AnyState<unknown>, participant: Participant): boolean =>
  state.infimum.members.some(
    ({ folded, participant: member }) => folded > 0 && sameParticipant(member, participant)
  ) ||
  findAcknowledgement(state.acknowledgements, participant) !== undefined ||
  toArray(state.entries).some(({ issuer }) => sameParticipant(issuer, participant))

/** Whether a request is among those that are remembered. */
export const knowsRequest = (state: AnyState<unknown>, request: string): boolean =>
  findRequest(state.projection.requests, request) !== null

/** Whether the participant has left, or is leaving, and will not come back by what is known. */
export const hasLeft = (state: AnyState<unknown>, participant: Participant): boolean =>
  (isLeaving(state.membership, participant) ||
    state.infimum.departed.some((each) => sameParticipant(each.participant, participant))) &&
  !isProjectedParticipant(state, participant)

/** Whether the participant is ejected by what is known here, decided or not. */
export const isEjected = (state: AnyState<unknown>, participant: Participant): boolean =>
  isKnownEjected(state, participant)

/** The ejections that wait for the survivors' acknowledgements, oldest first. */
export const undecidedEjections = (state: AnyState<unknown>): ReadonlyArray<Participant> =>
  openEjections(state)

/**
 * The last ordinal of an ejected participant that counts, once that is decided: whatever else he
 * drew is renegade. Null before, and for anyone else.
 */
export const ejectionMark = (state: AnyState<unknown>, participant: Participant): number | null =>
  markOf(state, participant) ?? null

/**
 * A hash of what this replica knows: history, pending ids, acknowledgements and decisions. Two
 * replicas of one object with equal hashes have nothing to tell each other. 16 hexadecimal digits;
 * O(pending).
 */
export const stateHash = (state: AnyState<unknown>): string => {
  const hasher = hasherFrom(state.infimum.digest)
  const size = sizeOf(state.entries)
  mixNumber(hasher, size)
  for (let index = 0; index < size; index += 1) mixEventId(hasher, itemAt(state.entries, index))
  for (const record of state.acknowledgements) {
    if (!saysAnything(record, state.infimum.count)) continue
    mixParticipant(hasher, record.participant)
    mixNumber(hasher, record.through)
    for (const position of record.beyond) mixNumber(hasher, position)
  }
  for (const seal of state.seals) {
    mixParticipant(hasher, seal.participant)
    mixNumber(hasher, -1 - seal.mark)
  }
  if (state.isProvisional) mixText(hasher, "provisional")
  return finishDigest(hasher)
}
