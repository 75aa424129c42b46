/**
 * Replicas of an application: the power state of its partitions, behind the interface that the peer
 * works with. Here the application's types end.
 */
import type {
  Application,
  Divergent,
  EventId,
  ForceCommand,
  Participant,
  PowerState,
  Violation
} from "@holdfast/power-state"
import * as Power from "@holdfast/power-state"
import type { PeerOperations } from "@holdfast/wire"
import { Result, Schema } from "effect"
import {
  type ApplyCommand,
  type Delivery,
  type HostedApplication,
  InvalidEvent,
  type PendingRequest,
  type Replica
} from "./replica.ts"
import { decodeSentDiff, decodeStored, encodeSentDiff, encodeStored } from "./stored-form.ts"

/** Events or outputs of one request, as JSON of the application's schemas. */
type JsonList = ReadonlyArray<unknown>

/** The last of a function's results, for arguments that come again and again. */
const rememberLast = <A, B>(make: (value: A) => B): ((value: A) => B) => {
  let last: { readonly value: A; readonly made: B } | undefined
  return (value) => {
    if (last === undefined || !Object.is(last.value, value)) last = { value, made: make(value) }
    return last.made
  }
}

/**
 * The application as the power state sees it: an event is the list of a request's events. Lists
 * stay JSON, so that what only passes through is neither decoded nor encoded.
 */
const batched = <E, O, S>(application: Application<E, O, S>) => {
  const decodeEvents = Schema.decodeUnknownSync(Schema.toCodecJson(Schema.Array(application.Event)))
  const encodeOutput = Schema.encodeSync(Schema.toCodecJson(application.Output))
  const { state } = Power.codecOf(application)
  const decoded = new WeakMap<JsonList, ReadonlyArray<E>>()
  const eventsOf = (list: JsonList): ReadonlyArray<E> => {
    const known = decoded.get(list)
    if (known !== undefined) return known
    const events = decodeEvents(list)
    decoded.set(list, events)
    return events
  }
  const listOf = (encoded: unknown): JsonList => {
    if (!Array.isArray(encoded)) throw new Error("a list is expected")
    return encoded
  }
  const fold: Power.Fold<JsonList, JsonList, S> = {
    initial: application.initial,
    apply: (list, before) => {
      let after = before
      const output = eventsOf(list).map((event) => {
        const applied = application.apply(event, after)
        after = applied.state
        return encodeOutput(applied.output)
      })
      return { output, state: after }
    }
  }
  const checked = (encoded: unknown): JsonList => {
    const list = listOf(encoded)
    eventsOf(list)
    return list
  }
  const codec: Power.StateCodec<JsonList, JsonList, S> = {
    event: { encode: (list) => list, decode: checked },
    output: { encode: (list) => list, decode: listOf },
    state: { encode: rememberLast(state.encode), decode: state.decode }
  }
  return { fold, codec, checked }
}

/**
 * How many requests a partition remembers: a repetition counts as one while at most so many others
 * came between. They travel with each state, so their number is what a small partition weighs.
 */
const REQUEST_WINDOW = 64

const requestOf = (entry: Power.Entry<JsonList>): ReadonlyArray<PendingRequest> =>
  entry._tag === "Event" ? [{ request: entry.request, events: entry.event }] : []

/** What an entry says, as people are told of it. */
const told = (entry: Power.Entry<JsonList>): Omit<PeerOperations.HistoryEntry, "id" | "heldBy"> => {
  switch (entry._tag) {
    case "Event":
      return {
        kind: "event",
        ...(entry.request === null ? {} : { request: entry.request }),
        events: entry.event
      }
    case "Join":
      return { kind: "join", participant: Power.formatParticipant(entry.participant) }
    case "Leave":
      return { kind: "leave" }
    case "Eject":
      return { kind: "eject", participant: Power.formatParticipant(entry.participant) }
  }
}

/** What the replicas of one application share. */
interface Kind<S> {
  readonly application: { readonly index: (state: S) => ReadonlyArray<Uint8Array> }
  readonly fold: Power.Fold<JsonList, JsonList, S>
  readonly codec: Power.StateCodec<JsonList, JsonList, S>
  readonly checked: (encoded: unknown) => JsonList
}

/** A version of a replica; what is asked of it twice is worked out once. */
class TypedReplica<S> implements Replica {
  readonly #kind: Kind<S>
  readonly #state: PowerState<JsonList, JsonList, S>
  #digest: string | undefined
  #report: Power.Report | undefined
  #bytes: Uint8Array | undefined
  #tags: ReadonlyArray<Uint8Array> | undefined
  #participants: ReadonlyArray<Participant> | undefined

  constructor(kind: Kind<S>, state: PowerState<JsonList, JsonList, S>, stored?: Uint8Array) {
    this.#kind = kind
    this.#state = state
    this.#bytes = stored
  }

  #next(state: PowerState<JsonList, JsonList, S>): Replica {
    return state === this.#state ? this : new TypedReplica(this.#kind, state)
  }

  /** The state of a replica of the same application; of another one it is a programming error. */
  #stateOf(replica: Replica): PowerState<JsonList, JsonList, S> {
    if (#kind in replica && replica.#kind === this.#kind) return replica.#state
    throw new Error("a replica of another application")
  }

  apply(command: ApplyCommand) {
    const { issuer, pendingMax, request } = command
    const { checked, fold } = this.#kind
    const events = Result.try({
      try: () => checked(command.events),
      catch: (cause) => new InvalidEvent({ message: String(cause) })
    })
    if (Result.isFailure(events)) return Result.fail(events.failure)
    const event = events.success
    const reply = Power.event(fold, this.#state, { issuer, event, request, pendingMax })
    return Result.map(reply, ({ id, output, state }) => ({
      replica: this.#next(state),
      outputs: output,
      id
    }))
  }

  hear({ from, state, to }: Delivery) {
    const delivery = { from, to, state: this.#stateOf(state) }
    const heard = Power.hear(this.#kind.fold, this.#state, delivery)
    return Result.map(heard, ({ dropped, state: next }) => ({
      replica: this.#next(next),
      dropped: dropped.flatMap(requestOf)
    }))
  }

  report(): Power.Report {
    return (this.#report ??= Power.report(this.#state))
  }

  diff(receiver: Power.Report): Uint8Array | null {
    const made = Power.diff(this.#state, receiver)
    return Result.isSuccess(made)
      ? encodeSentDiff(Power.encodeDiff(this.#kind.codec, made.success))
      : null
  }

  receive(diff: Uint8Array) {
    const { codec, fold } = this.#kind
    return decodeSentDiff(diff).pipe(
      Result.flatMap((encoded) => Power.decodeDiff(codec, encoded)),
      Result.flatMap((decoded) => Power.receive(fold, this.#state, decoded)),
      Result.map((state): Replica => new TypedReplica(this.#kind, state))
    )
  }

  merge(other: Replica) {
    const merged = Power.merge(this.#kind.fold, this.#state, this.#stateOf(other))
    return Result.map(merged, ({ state }) => this.#next(state))
  }

  acknowledge(participant: Participant) {
    const reduced = Power.acknowledge(this.#kind.fold, this.#state, participant)
    return Result.map(reduced, ({ state }) => this.#next(state))
  }

  participate(options: { readonly issuer: Participant; readonly participant: Participant }) {
    const joined = Power.participate(this.#kind.fold, this.#state, options)
    return Result.map(joined, (state) => this.#next(state))
  }

  leave(participant: Participant) {
    const left = Power.disassociate(this.#kind.fold, this.#state, participant)
    return Result.map(left, (state) => this.#next(state))
  }

  eject(options: { readonly issuer: Participant; readonly participant: Participant }) {
    const ejected = Power.eject(this.#kind.fold, this.#state, options)
    return Result.map(ejected, (state) => this.#next(state))
  }

  forceEject(command: ForceCommand) {
    const forced = Power.forceEject(this.#kind.fold, this.#state, command)
    return Result.map(forced, ({ state }) => this.#next(state))
  }

  adopt(other: Replica) {
    const adopted = Power.adopt(this.#state, this.#stateOf(other))
    return Result.map(adopted, ({ dropped, state }) => ({
      replica: this.#next(state),
      dropped: dropped.flatMap(requestOf)
    }))
  }

  lineage(): number {
    return this.#state.origin.lineage
  }

  isEjected(participant: Participant): boolean {
    return Power.isEjected(this.#state, participant)
  }

  isDecided(ejected: Participant): boolean {
    return Power.ejectionMark(this.#state, ejected) !== null
  }

  digest(): string {
    return (this.#digest ??= Power.stateHash(this.#state))
  }

  bytes(): Uint8Array {
    return (this.#bytes ??= encodeStored(
      this.digest(),
      Power.encodeState(this.#kind.codec, this.#state)
    ))
  }

  tags(): ReadonlyArray<Uint8Array> {
    return (this.#tags ??= this.#kind.application.index(Power.projectedValue(this.#state)))
  }

  participants(): ReadonlyArray<Participant> {
    return (this.#participants ??= Power.projectedParticipants(this.#state))
  }

  everybody(): ReadonlyArray<Participant> {
    return Power.allParticipants(this.#state)
  }

  hasHeardFrom(participant: Participant): boolean {
    return Power.hasHeardFrom(this.#state, participant)
  }

  divergent(): ReadonlyArray<Divergent> {
    return Power.divergent(this.#state)
  }

  holders(id: EventId): ReadonlyArray<Participant> {
    return Power.holders(this.#state, id)
  }

  pending(): number {
    return Power.pendingCount(this.#state)
  }

  pendingRequests(): ReadonlyArray<PendingRequest> {
    return Power.pendingEntries(this.#state).flatMap(requestOf)
  }

  history(): ReadonlyArray<PeerOperations.HistoryEntry> {
    return Power.pendingEntries(this.#state).map((entry) => ({
      id: Power.formatEventId(entry),
      ...told(entry),
      heldBy: Power.holders(this.#state, entry).map(Power.formatParticipant)
    }))
  }

  knowsRequest(request: string): boolean {
    return Power.knowsRequest(this.#state, request)
  }

  birthEpoch(): number {
    return this.#state.origin.epoch
  }

  isProvisional(): boolean {
    return Power.isProvisional(this.#state)
  }

  hasFolded(): boolean {
    return Power.infimumId(this.#state) !== null
  }

  confirm(participant: Participant): Replica {
    return this.#next(Power.confirm(this.#kind.fold, this.#state, participant).state)
  }

  projected(): unknown {
    return this.#kind.codec.state.encode(Power.projectedValue(this.#state))
  }

  infimum(): unknown {
    return this.#kind.codec.state.encode(Power.infimumValue(this.#state))
  }

  invariants(): ReadonlyArray<Violation> {
    return Power.invariants(this.#kind.fold, this.#state)
  }
}

/**
 * Prepares an application for a peer; its codecs are compiled here, once. Whom the cluster's agreed
 * state ejects may be ejected from a partition by whoever is left, unless another authority is
 * named.
 */
export const hostApplication = <E, O, S>(
  application: Application<E, O, S>,
  { authority = "cluster" }: { readonly authority?: Power.Authority } = {}
): HostedApplication => {
  const kind: Kind<S> = { application, ...batched(application) }
  return {
    name: application.name,
    version: application.version,
    create: ({ epoch, isProvisional = false, key, participants }) => {
      const origin = { key: `${application.name}:${key}`, epoch, lineage: 0 }
      const birth: Power.Birth = {
        origin,
        participants,
        requestWindow: REQUEST_WINDOW,
        authority,
        isProvisional
      }
      return new TypedReplica(kind, Power.create(kind.fold, birth))
    },
    decode: (bytes) =>
      Result.flatMap(decodeStored(bytes), ({ encoded }) =>
        Result.map(
          Power.decodeState(kind.fold, kind.codec, encoded),
          (state): Replica => new TypedReplica(kind, state, bytes)
        )
      )
  }
}
