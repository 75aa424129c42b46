/**
 * What an object's history is made of: events of the application, joins, leaves and ejections.
 *
 * 1. An entry is its own id: `ordinal` and `issuer` stand in it.
 * 2. A Leave is issued by the one who leaves; a Join by whoever lets another in, an Eject by
 *    whoever puts another out. Nobody draws an id in the name of another.
 */
import type { EventId } from "./event-id.ts"
import type { Participant } from "./participant.ts"
import { sameParticipant } from "./participant.ts"
import { structurallyEqual } from "./structural-equality.ts"

/** An event of the application; `request` names the request that caused it, if any. */
export interface EventEntry<E> extends EventId {
  readonly _tag: "Event"
  readonly event: E
  readonly request: string | null
}

/**
 * `participant` takes part from here on, if `after` is the ordinal of his last Leave before, 0 for
 * none: whoever lets one in without knowing that he left since changes nothing.
 */
export interface JoinEntry extends EventId {
  readonly _tag: "Join"
  readonly participant: Participant
  readonly after: number
}

/** The issuer takes no part from here on. */
export interface LeaveEntry extends EventId {
  readonly _tag: "Leave"
}

/** `participant` is put out, for ever: it comes back only under a higher incarnation. */
export interface EjectEntry extends EventId {
  readonly _tag: "Eject"
  readonly participant: Participant
}

/** A change of who takes part. */
export type MembershipEntry = JoinEntry | LeaveEntry | EjectEntry

/** One step of an object's history. */
export type Entry<E> = EventEntry<E> | MembershipEntry

/** Whether two entries of equal id say the same. */
export const sameBody = <E>(left: Entry<E>, right: Entry<E>): boolean => {
  if (left === right) return true
  switch (left._tag) {
    case "Event":
      return (
        right._tag === "Event" &&
        left.request === right.request &&
        structurallyEqual(left.event, right.event)
      )
    case "Join":
      return (
        right._tag === "Join" &&
        left.after === right.after &&
        sameParticipant(left.participant, right.participant)
      )
    case "Leave":
      return right._tag === "Leave"
    case "Eject":
      return right._tag === "Eject" && sameParticipant(left.participant, right.participant)
  }
}

/** Whether an entry changes who takes part. */
export const isMembershipEntry = (entry: Entry<unknown>): entry is MembershipEntry =>
  entry._tag !== "Event"
