/**
 * Writes a diff for the wire, and reads it back.
 *
 * 1. What is read back is equal.
 * 2. Anything else than a whole diff of a known format is refused with a reason; whether it fits
 *    the receiver's state is for `mergeDiff` to say.
 */
import { Result, Schema } from "effect"
import type { StateCodec } from "./codec.ts"
import { UndecodableState } from "./codec.ts"
import type { Diff } from "./diff.ts"
import { formatDigest, parseDigest } from "./digest.ts"
import { DIFF_FORMAT, EncodedDiff } from "./encoded-diff.ts"
import { isEncodedDiff } from "./encoded-state-guard.ts"
import { decodeEntry, encodeEntry, participantsAt, placesIn } from "./entry-codec.ts"
import type { Participant } from "./participant.ts"
import { includesParticipant, sortParticipants } from "./participant.ts"

type EventCodec<E> = Pick<StateCodec<E, unknown, unknown>, "event">

const everyoneIn = (diff: Diff<unknown>): ReadonlyArray<Participant> => {
  const named: Array<Participant> = []
  const add = (participant: Participant): void => {
    if (!includesParticipant(named, participant)) named.push(participant)
  }
  if (diff.infimum.id !== null) add(diff.infimum.id.issuer)
  for (const each of diff.known) add(each.issuer)
  for (const entry of diff.entries) {
    add(entry.issuer)
    if (entry._tag === "Join" || entry._tag === "Eject") add(entry.participant)
  }
  for (const each of diff.acknowledgements) add(each.participant)
  for (const each of diff.decided) add(each.participant)
  return sortParticipants(named)
}

/** The form of a diff that is sent. Linear in what is new to the receiver. */
export const encodeDiff = <E>(codec: EventCodec<E>, diff: Diff<E>): EncodedDiff => {
  const participants = everyoneIn(diff)
  const placeOf = placesIn(participants)
  const { count, digest, id } = diff.infimum
  return {
    format: DIFF_FORMAT,
    origin: diff.origin,
    ...(diff.isProvisional ? { provisional: true as const } : {}),
    participants: participants.map(({ incarnation, peer }) => [peer, incarnation]),
    infimum: {
      id: id === null ? null : [id.ordinal, placeOf(id.issuer)],
      count,
      digest: formatDigest(digest)
    },
    known: diff.known.map(({ issuer, ordinal }) => [placeOf(issuer), ordinal]),
    entries: diff.entries.map((entry) => encodeEntry(codec.event, placeOf, entry)),
    pending: { count: diff.pending.count, digest: formatDigest(diff.pending.digest) },
    held: diff.acknowledgements.map(({ beyond, participant, through }) => [
      placeOf(participant),
      through,
      beyond
    ]),
    decided: diff.decided.map(({ mark, participant }) => [placeOf(participant), mark])
  }
}

const rebuild = <E>(codec: EventCodec<E>, encoded: EncodedDiff): Diff<E> => {
  const at = participantsAt(encoded.participants)
  const { count, digest, id } = encoded.infimum
  return {
    origin: encoded.origin,
    isProvisional: encoded.provisional ?? false,
    infimum: {
      id: id === null ? null : { ordinal: id[0], issuer: at(id[1]) },
      count,
      digest: parseDigest(digest)
    },
    known: encoded.known.map(([place, ordinal]) => ({ issuer: at(place), ordinal })),
    entries: encoded.entries.map((entry) => decodeEntry(codec.event, at, entry)),
    pending: { count: encoded.pending.count, digest: parseDigest(encoded.pending.digest) },
    acknowledgements: encoded.held.map(([place, through, beyond]) => ({
      participant: at(place),
      through,
      beyond
    })),
    decided: encoded.decided.map(([place, mark]) => ({ participant: at(place), mark }))
  }
}

const explain = Schema.decodeUnknownResult(EncodedDiff)

/** Reads a diff. Linear in its size. */
export const decodeDiff = <E>(
  codec: EventCodec<E>,
  sent: unknown
): Result.Result<Diff<E>, UndecodableState> => {
  if (!isEncodedDiff(sent)) {
    const fault = explain(sent)
    const reason = Result.isFailure(fault) ? String(fault.failure) : "it has superfluous parts"
    return Result.fail(new UndecodableState({ reason }))
  }
  return Result.try({
    try: () => rebuild(codec, sent),
    catch: (cause) => new UndecodableState({ reason: String(cause) })
  })
}
