/**
 * Entries in their stored form, where participants are places in a table.
 */
import type { ValueCodec } from "./codec.ts"
import type { EncodedEntry } from "./encoded-state.ts"
import type { Entry } from "./entry.ts"
import type { Participant } from "./participant.ts"
import { sameParticipant } from "./participant.ts"

/** The place of a participant in a table. */
export type PlaceOf = (participant: Participant) => number
/** The participant at a place of a table; throws where there is none. */
export type ParticipantAt = (place: number) => Participant

/** Finds places in a table. */
export const placesIn =
  (participants: ReadonlyArray<Participant>): PlaceOf =>
  (participant) =>
    participants.findIndex((each) => sameParticipant(each, participant))

/** Finds participants in a stored table. */
export const participantsAt = (
  table: ReadonlyArray<readonly [Participant["peer"], Participant["incarnation"]]>
): ParticipantAt => {
  const participants = table.map(([peer, incarnation]): Participant => ({ peer, incarnation }))
  return (place) => {
    const participant = participants[place]
    if (participant === undefined) throw new Error(`participant ${place} of ${table.length}`)
    return participant
  }
}

/** The stored form of an entry. */
export const encodeEntry = <E>(
  codec: ValueCodec<E>,
  placeOf: PlaceOf,
  entry: Entry<E>
): EncodedEntry => {
  const issuer = placeOf(entry.issuer)
  switch (entry._tag) {
    case "Event":
      return [entry.ordinal, issuer, "event", codec.encode(entry.event), entry.request]
    case "Join":
      return [entry.ordinal, issuer, "join", placeOf(entry.participant), entry.after]
    case "Leave":
      return [entry.ordinal, issuer, "leave"]
    case "Eject":
      return [entry.ordinal, issuer, "eject", placeOf(entry.participant)]
  }
}

/** Reads the stored form of an entry; throws on what it cannot read. */
export const decodeEntry = <E>(
  codec: ValueCodec<E>,
  at: ParticipantAt,
  encoded: EncodedEntry
): Entry<E> => {
  const [ordinal, place] = encoded
  const issuer = at(place)
  switch (encoded[2]) {
    case "event":
      return {
        _tag: "Event",
        ordinal,
        issuer,
        event: codec.decode(encoded[3]),
        request: encoded[4]
      }
    case "join":
      return { _tag: "Join", ordinal, issuer, participant: at(encoded[3]), after: encoded[4] }
    case "leave":
      return { _tag: "Leave", ordinal, issuer }
    case "eject":
      return { _tag: "Eject", ordinal, issuer, participant: at(encoded[3]) }
  }
}
