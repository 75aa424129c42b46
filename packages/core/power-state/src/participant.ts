/**
 * Who takes part in an object: a peer in one of its incarnations.
 *
 * 1. Participants are totally ordered by peer name, then by incarnation.
 * 2. A peer that lost its durable state, or was ejected, takes part again only under a higher
 *    incarnation; the old participant is never heard from again.
 */
import { Schema } from "effect"

/** The name of a peer: at most 64 of `A-Z a-z 0-9 _ -`, safe in a file name and a subject. */
export const PeerId = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)),
  Schema.brand("PeerId")
)
/** The name of a peer. */
export type PeerId = typeof PeerId.Type

/** A safe integer of at least 0 that counts the lives of a peer. */
export const Incarnation = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(0)))

/** A peer in one of its incarnations. */
export const Participant = Schema.Struct({ peer: PeerId, incarnation: Incarnation })
/** A peer in one of its incarnations. */
export interface Participant extends Schema.Schema.Type<typeof Participant> {}

/** Makes a participant; throws when the name or the incarnation is malformed. */
export const makeParticipant = (peer: string, incarnation = 0): Participant =>
  Participant.make({ peer: PeerId.make(peer), incarnation })

/** Negative, zero or positive as `left` sorts before, with or after `right`. */
export const compareParticipants = (left: Participant, right: Participant): number => {
  if (left === right) return 0
  if (left.peer !== right.peer) return left.peer < right.peer ? -1 : 1
  return left.incarnation - right.incarnation
}

/** Whether both name the same incarnation of the same peer. */
export const sameParticipant = (left: Participant, right: Participant): boolean =>
  left === right || (left.incarnation === right.incarnation && left.peer === right.peer)

/** Whether a participant is among others. O(participants). */
export const includesParticipant = (
  participants: ReadonlyArray<Participant>,
  participant: Participant
): boolean => participants.some((each) => sameParticipant(each, participant))

/** Sorted and without repeats. */
export const sortParticipants = (
  participants: Iterable<Participant>
): ReadonlyArray<Participant> => {
  const sorted = Array.from(participants).sort(compareParticipants)
  return sorted.filter((each, index) => index === 0 || !sameParticipant(each, sorted[index - 1]!))
}

/** A participant as one line of text, `peer.incarnation`. */
export const formatParticipant = (participant: Participant): string =>
  `${participant.peer}.${participant.incarnation}`
