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
