/**
 * Writes a state for the store and the wire, and reads it back.
 *
 * 1. What is read back is equal in all that can be observed, its hash included.
 * 2. Anything else than a whole, sound state of a known format is refused with a reason.
 * 3. Formats once written stay readable; the golden file beside the tests holds one of each.
 */
import { Data, Result, Schema } from "effect"
import type { Acknowledgement } from "./acknowledgement.ts"
import type { Application, Fold } from "./application.ts"
import { formatDigest, parseDigest } from "./digest.ts"
import { EncodedState, STATE_FORMAT } from "./encoded-state.ts"
import { upgradeEncodedState } from "./encoded-state-1.ts"
import { isEncodedState } from "./encoded-state-guard.ts"
import { isMembershipEntry } from "./entry.ts"
import { decodeEntry, encodeEntry, participantsAt, placesIn } from "./entry-codec.ts"
import { compareEventIds, compareMarks } from "./event-id.ts"
import type { Participant } from "./participant.ts"
import { includesParticipant, sortParticipants } from "./participant.ts"
import { emptyProjection, projectEntries } from "./projection.ts"
import { foldedRequests } from "./request-log.ts"
import { sequenceOf, toArray } from "./sequence.ts"
import type { PowerState } from "./state.ts"

/** How a value of the application becomes JSON and back; `decode` throws on what it cannot read. */
export interface ValueCodec<A> {
  readonly encode: (value: A) => unknown
  readonly decode: (encoded: unknown) => A
}

/** The codecs of an application's values. */
export interface StateCodec<E, O, S> {
  readonly event: ValueCodec<E>
  readonly output: ValueCodec<O>
  readonly state: ValueCodec<S>
}

/** Not a state of this application in a known format. */
export class UndecodableState extends Data.TaggedError("UndecodableState")<{
  readonly reason: string
}> {
  override get message() {
    return `this is not a state of the application: ${this.reason}`
  }
}

const valueCodec = <A>(schema: Schema.Codec<A, unknown>): ValueCodec<A> => {
  const json = Schema.toCodecJson(schema)
  return { encode: Schema.encodeSync(json), decode: Schema.decodeUnknownSync(json) }
}

/** The codecs that follow from an application's schemas. Make them once: they are compiled. */
export const codecOf = <E, O, S>(
  application: Pick<Application<E, O, S>, "Event" | "Output" | "State">
): StateCodec<E, O, S> => ({
  event: valueCodec(application.Event),
  output: valueCodec(application.Output),
  state: valueCodec(application.State)
})

const everyoneIn = (state: PowerState<unknown, unknown, unknown>): ReadonlyArray<Participant> => {
  const { departed, id, members } = state.infimum
  const named = members.map((each) => each.participant)
  const add = (participant: Participant): void => {
    if (!includesParticipant(named, participant)) named.push(participant)
  }
  for (const each of departed) add(each.participant)
  if (id !== null) add(id.issuer)
  for (const entry of toArray(state.entries)) {
    add(entry.issuer)
    if (entry._tag === "Join" || entry._tag === "Eject") add(entry.participant)
  }
  for (const each of state.seals) add(each.participant)
  for (const each of state.acknowledgements) add(each.participant)
  return sortParticipants(named)
}

/** The stored form of a state. Linear in its pending entries and remembered requests. */
export const encodeState = <E, O, S>(
  codec: StateCodec<E, O, S>,
  state: PowerState<E, O, S>
): EncodedState => {
  const participants = everyoneIn(state)
  const placeOf = placesIn(participants)
  const { count, departed, digest, id, members, value } = state.infimum
  return {
    format: STATE_FORMAT,
    origin: state.origin,
    requestWindow: state.requestWindow,
    authority: state.authority,
    ...(state.isProvisional ? { provisional: true as const } : {}),
    participants: participants.map(({ incarnation, peer }) => [peer, incarnation]),
    infimum: {
      id: id === null ? null : [id.ordinal, placeOf(id.issuer)],
      count,
      value: codec.state.encode(value),
      members: members.map(({ folded, participant }) => [placeOf(participant), folded]),
      departed: departed.map(({ mark, participant, reason }) => [
        placeOf(participant),
        mark,
        reason
      ]),
      digest: formatDigest(digest),
      requests: foldedRequests(state.projection.requests).map(({ output, request }) => [
        request,
        codec.output.encode(output)
      ])
    },
    entries: toArray(state.entries).map((entry) => encodeEntry(codec.event, placeOf, entry)),
    seals: state.seals.map(({ mark, participant }) => [placeOf(participant), mark]),
    held: state.acknowledgements.map(({ beyond, participant, through }) => [
      placeOf(participant),
      through,
      beyond
    ])
  }
}

const isSound = (state: PowerState<unknown, unknown, unknown>): boolean => {
  const entries = toArray(state.entries)
  const end = state.infimum.count + entries.length
  return (
    !(state.isProvisional && state.infimum.id !== null) &&
    entries.every((entry, index) =>
      index === 0
        ? compareMarks(entry, state.infimum.id) > 0
        : compareEventIds(entries[index - 1]!, entry) < 0
    ) &&
    state.acknowledgements.every((each) => each.through <= end)
  )
}

const rebuild = <E, O, S>(
  fold: Fold<E, O, S>,
  codec: StateCodec<E, O, S>,
  encoded: EncodedState
): PowerState<E, O, S> => {
  const at = participantsAt(encoded.participants)
  const { authority, infimum, requestWindow } = encoded
  const value = codec.state.decode(infimum.value)
  const requests = infimum.requests.map(([request, output]) => ({
    request,
    output: codec.output.decode(output)
  }))
  const entries = encoded.entries.map((entry) => decodeEntry(codec.event, at, entry))
  const empty = emptyProjection<O, S>(value, requests)
  return {
    origin: encoded.origin,
    requestWindow,
    authority,
    isProvisional: encoded.provisional ?? false,
    infimum: {
      id: infimum.id === null ? null : { ordinal: infimum.id[0], issuer: at(infimum.id[1]) },
      count: infimum.count,
      value,
      members: infimum.members.map(([place, folded]) => ({ participant: at(place), folded })),
      departed: infimum.departed.map(([place, mark, reason]) => ({
        participant: at(place),
        mark,
        reason
      })),
      digest: parseDigest(infimum.digest)
    },
    membership: entries.filter(isMembershipEntry),
    seals: encoded.seals.map(([place, mark]) => ({ participant: at(place), mark })),
    acknowledgements: encoded.held.map(([place, through, beyond]): Acknowledgement => ({
      participant: at(place),
      through,
      beyond
    })),
    projection: projectEntries(fold, requestWindow, empty, entries),
    entries: sequenceOf(entries)
  }
}

const explainEnvelope = Schema.decodeUnknownResult(EncodedState)

/** Why something is no stored form; the schema says it best. */
const envelopeFault = (encoded: unknown): UndecodableState => {
  const decoded = explainEnvelope(encoded)
  const reason = Result.isFailure(decoded) ? String(decoded.failure) : "it has superfluous parts"
  return new UndecodableState({ reason })
}

/** Reads a stored form. Linear in its size; the pending events are applied. */
export const decodeState = <E, O, S>(
  fold: Fold<E, O, S>,
  codec: StateCodec<E, O, S>,
  stored: unknown
): Result.Result<PowerState<E, O, S>, UndecodableState> => {
  const encoded = upgradeEncodedState(stored)
  if (!isEncodedState(encoded)) return Result.fail(envelopeFault(encoded))
  const state = Result.try({
    try: () => rebuild(fold, codec, encoded),
    catch: (cause) => new UndecodableState({ reason: String(cause) })
  })
  return Result.isSuccess(state) && !isSound(state.success)
    ? Result.fail(
        new UndecodableState({
          reason: "its entries, acknowledgements or confirmation are in disorder"
        })
      )
    : state
}
