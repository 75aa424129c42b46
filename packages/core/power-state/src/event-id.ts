/**
 * Names of the entries of an object, and their total order.
 *
 * 1. Ids are ordered by ordinal, then by issuer; no two participants ever draw the same id.
 * 2. A participant draws an ordinal above every one that it knows, so what it has seen comes first.
 * 3. `null` stands for the id below all ids.
 */
import { Schema } from "effect"
import type { Participant as ParticipantType } from "./participant.ts"
import { compareParticipants, formatParticipant, Participant } from "./participant.ts"

/** The place of an entry in the order: an ordinal of at least 1, and who drew it. */
export const EventId = Schema.Struct({
  ordinal: Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(1))),
  issuer: Participant
})
/** The place of an entry in the order. */
export interface EventId {
  readonly ordinal: number
  readonly issuer: ParticipantType
}

/** Negative, zero or positive as `left` stands before, at or after `right`. */
export const compareEventIds = (left: EventId, right: EventId): number =>
  left.ordinal === right.ordinal
    ? compareParticipants(left.issuer, right.issuer)
    : left.ordinal - right.ordinal

/** Like `compareEventIds`, where `null` is below every id. */
export const compareMarks = (left: EventId | null, right: EventId | null): number => {
  if (left === null) return right === null ? 0 : -1
  return right === null ? 1 : compareEventIds(left, right)
}

/** The id alone, without what an entry carries beside it. */
export const eventIdOf = (id: EventId): EventId => ({ ordinal: id.ordinal, issuer: id.issuer })

/** An id as one line of text, `ordinal@peer.incarnation`. */
export const formatEventId = (id: EventId): string =>
  `${id.ordinal}@${formatParticipant(id.issuer)}`
