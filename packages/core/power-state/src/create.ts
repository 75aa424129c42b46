/**
 * The birth of an object.
 *
 * 1. The result depends on the arguments alone: whoever creates the same object by the same
 *    distribution gets an equal state, so two independent births merge as one.
 * 2. Births with different participants differ in their digest and are never merged silently.
 * 3. Who cannot know yet whether the object was born under another distribution creates it
 *    provisionally: it takes events, and folds nothing until somebody who knows confirms it. Two
 *    births of which neither folded anything are made one by submitting the entries of one of them
 *    to the other; which of the two is for the caller to say, and to say alike everywhere.
 */
import type { Fold } from "./application.ts"
import type { Digest } from "./digest.ts"
import { digestOf, mixNumber, mixParticipant, mixText, newHasher } from "./digest.ts"
import type { Entry, MembershipEntry } from "./entry.ts"
import { Origin } from "./origin.ts"
import type { Participant } from "./participant.ts"
import { sortParticipants } from "./participant.ts"
import { emptyProjection } from "./projection.ts"
import { sequenceOf } from "./sequence.ts"
import type { Authority, PowerState } from "./state.ts"

/** How many requests an object remembers, unless told otherwise. */
export const REQUEST_WINDOW_DEFAULT = 128

/** What an object is born with. */
export interface Birth {
  readonly origin: Origin
  /** At least one; the order does not matter. */
  readonly participants: ReadonlyArray<Participant>
  /** How many requests are remembered against repeats; 0 for none. */
  readonly requestWindow?: number
  /** Who decides about ejections: `majority`, unless told otherwise. */
  readonly authority?: Authority
  /** Whether it waits to be confirmed; it does not, unless told otherwise. */
  readonly isProvisional?: boolean
}

/** The authority is mixed in where format 1 did not stand for it: it knew partitions alone. */
const birthDigest = (
  origin: Origin,
  participants: ReadonlyArray<Participant>,
  requestWindow: number,
  authority: Authority
): Digest => {
  const hasher = newHasher()
  mixText(hasher, origin.key)
  mixNumber(hasher, origin.epoch)
  mixNumber(hasher, origin.lineage)
  mixNumber(hasher, requestWindow)
  for (const participant of participants) mixParticipant(hasher, participant)
  if (authority !== "cluster") mixText(hasher, authority)
  return digestOf(hasher)
}

/** A new object; throws when it is born without participants. */
export const create = <E, O, S>(fold: Fold<E, O, S>, birth: Birth): PowerState<E, O, S> => {
  const participants = sortParticipants(birth.participants)
  if (participants.length === 0) throw new Error("an object needs a participant to be born")
  const origin = Origin.make(birth.origin)
  const {
    authority = "majority",
    isProvisional = false,
    requestWindow = REQUEST_WINDOW_DEFAULT
  } = birth
  const membership: ReadonlyArray<MembershipEntry> = []
  return {
    origin,
    requestWindow,
    authority,
    isProvisional,
    infimum: {
      id: null,
      count: 0,
      value: fold.initial,
      members: participants.map((participant) => ({ participant, folded: 0 })),
      departed: [],
      digest: birthDigest(origin, participants, requestWindow, authority)
    },
    entries: sequenceOf<Entry<E>>([]),
    membership,
    seals: [],
    acknowledgements: [],
    projection: emptyProjection<O, S>(fold.initial, [])
  }
}
