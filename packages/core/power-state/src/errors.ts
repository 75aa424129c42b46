/**
 * What can be refused, as values. Each has a sentence for a person in `message`.
 */
import { Data } from "effect"
import type { EventId } from "./event-id.ts"
import { formatEventId } from "./event-id.ts"
import type { Origin } from "./origin.ts"
import type { Participant } from "./participant.ts"
import { formatParticipant } from "./participant.ts"

const formatOrigin = (origin: Origin): string =>
  `${origin.key} (epoch ${origin.epoch}, lineage ${origin.lineage})`

/** The two states were not born as one object. */
export class DifferentOrigins extends Data.TaggedError("DifferentOrigins")<{
  readonly local: Origin
  readonly incoming: Origin
}> {
  override get message() {
    return `${formatOrigin(this.local)} and ${formatOrigin(this.incoming)} are different objects`
  }
}

/** The two states belong to different lineages of one object: an ejection was forced in between. */
export class DifferentLineage extends Data.TaggedError("DifferentLineage")<{
  readonly local: Origin
  readonly incoming: Origin
}> {
  override get message() {
    return (
      `${formatOrigin(this.local)} met lineage ${this.incoming.lineage}: ` +
      "the side of the lower lineage has to submit its unconfirmed writes again"
    )
  }
}

/** One id names two different entries: an issuer went on from an older state than it had sent. */
export class ConflictingEvent extends Data.TaggedError("ConflictingEvent")<{
  readonly id: EventId
}> {
  override get message() {
    return (
      `two different entries bear the id ${formatEventId(this.id)}: ` +
      `${formatParticipant(this.id.issuer)} must come back under a new incarnation`
    )
  }
}

/** Both states end their history at one id but did not come there on the same way. */
export class InfimumDigestMismatch extends Data.TaggedError("InfimumDigestMismatch")<{
  readonly id: EventId | null
}> {
  override get message() {
    const place = this.id === null ? "their birth" : formatEventId(this.id)
    return `the histories of the two states differ although both are folded up to ${place}`
  }
}

/** No diff can be made for this receiver: send a full state. */
export class FullStateNeeded extends Data.TaggedError("FullStateNeeded")<{
  /**
   * Another object or lineage; the receiver has folded what is not held here; or he lacks what is
   * folded here, so that it cannot be sent one by one.
   */
  readonly reason: "origin" | "behind" | "folded"
}> {
  override get message() {
    return `a full state is needed: ${this.reason}`
  }
}

/** A diff stands on a history that is not known here: ask for a full state. */
export class DiffTooNew extends Data.TaggedError("DiffTooNew")<{
  readonly id: EventId | null
}> {
  override get message() {
    const place = this.id === null ? "its birth" : formatEventId(this.id)
    return `the diff stands on ${place}, which is above all that is held here; ask for a full state`
  }
}

/** A diff leaves out what is not held here, or no more: ask for a full state. */
export class DiffTooSparse extends Data.TaggedError("DiffTooSparse")<{
  readonly id: EventId | null
}> {
  override get message() {
    const place = this.id === null ? "its birth" : formatEventId(this.id)
    return `the diff above ${place} leaves out what is not held here; ask for a full state`
  }
}

/** Why two states are not merged. */
export type MergeError =
  | DifferentOrigins
  | DifferentLineage
  | ConflictingEvent
  | InfimumDigestMismatch

/** Somebody who takes no part, or has left, wants to write or acknowledge. */
export class NotParticipant extends Data.TaggedError("NotParticipant")<{
  readonly participant: Participant
}> {
  override get message() {
    return `${formatParticipant(this.participant)} takes no part in this object; join it first`
  }
}

/** Somebody who was ejected is to take part again as the same. */
export class EjectedParticipant extends Data.TaggedError("EjectedParticipant")<{
  readonly participant: Participant
}> {
  override get message() {
    return `${formatParticipant(this.participant)} was ejected; it can come back under a higher incarnation`
  }
}

/** Somebody is to be let in again before everyone has heard that he left. */
export class StillLeaving extends Data.TaggedError("StillLeaving")<{
  readonly participant: Participant
}> {
  override get message() {
    return `${formatParticipant(this.participant)} is still leaving; let it in again when that is folded`
  }
}

/** Somebody wants to eject himself. */
export class SelfEjection extends Data.TaggedError("SelfEjection")<{
  readonly participant: Participant
}> {
  override get message() {
    return `${formatParticipant(this.participant)} cannot eject itself; it may leave`
  }
}

/** Too few participants would be left in good standing to decide an ejection. */
export class AuthorityMissing extends Data.TaggedError("AuthorityMissing")<{
  readonly participant: Participant
  /** Those of the object's participants that would be in good standing. */
  readonly present: ReadonlyArray<Participant>
  readonly needed: number
}> {
  override get message() {
    return (
      `${formatParticipant(this.participant)} is not ejected: ${this.needed} participants in good ` +
      `standing have to agree, and there would be ${this.present.length}; ` +
      "an operator who knows that the others are gone may force it"
    )
  }
}

/** A forced ejection, or a state that is gone over to, has to begin a higher lineage. */
export class LineageNotHigher extends Data.TaggedError("LineageNotHigher")<{
  readonly local: number
  readonly incoming: number
}> {
  override get message() {
    return `lineage ${this.incoming} is not above ${this.local}, the one at hand`
  }
}

/** The lineage that an operator forced does not know all that this replica has folded. */
export class HistoryNotContained extends Data.TaggedError("HistoryNotContained")<{
  /** Whose folded entries are missing there. */
  readonly participants: ReadonlyArray<Participant>
}> {
  override get message() {
    return (
      "the other lineage lacks confirmed entries of " +
      `${this.participants.map(formatParticipant).join(", ")}; they would be lost: ` +
      "export this replica before it is discarded"
    )
  }
}

/** A state came from one whose word does not count: nothing of it was taken. */
export class SenderRefused extends Data.TaggedError("SenderRefused")<{
  readonly sender: Participant
  /** `ejected`, or `stranger`: he was not let in by anyone whose Joins count. */
  readonly reason: "ejected" | "stranger"
}> {
  override get message() {
    const sender = formatParticipant(this.sender)
    return this.reason === "ejected"
      ? `${sender} was ejected; it has to come back under a higher incarnation`
      : `${sender} takes no part in this object by what is known here; it has to be let in`
  }
}

/** The last participant cannot leave: its replica is the only one. */
export class LastParticipant extends Data.TaggedError("LastParticipant")<{
  readonly participant: Participant
}> {
  override get message() {
    return `${formatParticipant(this.participant)} is the last participant; let another join first`
  }
}

/** So many entries wait for acknowledgement that no more are taken. */
export class PendingLimitReached extends Data.TaggedError("PendingLimitReached")<{
  readonly pendingMax: number
  readonly waitingFor: ReadonlyArray<Participant>
}> {
  override get message() {
    return (
      `${this.pendingMax} entries wait for the acknowledgement of ` +
      `${this.waitingFor.map(formatParticipant).join(", ")}; try again when they are back`
    )
  }
}
