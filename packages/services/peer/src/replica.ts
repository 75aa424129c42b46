/**
 * Replicas without their types: what the peer needs of a partition, whatever its application.
 *
 * 1. A replica never changes; each step gives a new one, or the same if nothing is new.
 * 2. One entry of the power state is one request with all its events: it counts whole and once.
 * 3. Events, outputs and values cross this boundary as JSON of the application's schemas.
 */
import type {
  Application,
  Divergent,
  EventId,
  MergeError,
  NotParticipant,
  Participant,
  PendingLimitReached,
  PowerState,
  UndecodableState,
  Violation
} from "@holdfast/power-state"
import * as Power from "@holdfast/power-state"
import { Data, Result, Schema } from "effect"
import { decodeStored, encodeStored } from "./stored-form.ts"

/** Events that are not of the application's schema. */
export class InvalidEvent extends Data.TaggedError("InvalidEvent")<{ readonly message: string }> {}

/** A request to apply events. */
export interface ApplyCommand {
  readonly issuer: Participant
  readonly events: ReadonlyArray<unknown>
  readonly request: string
  readonly pendingMax: number
}

/** The answer to a request. */
export interface ApplyReply {
  readonly replica: Replica
  readonly outputs: ReadonlyArray<unknown>
  /** Null when the request was folded before. */
  readonly id: EventId | null
}

/** A replica after it heard another. */
export interface MergeReply {
  readonly replica: Replica
  /** Requests whose entries cannot count any more. */
  readonly renegades: number
}

/** One version of a partition's replica. */
export interface Replica {
  readonly apply: (
    command: ApplyCommand
  ) => Result.Result<ApplyReply, InvalidEvent | NotParticipant | PendingLimitReached>
  readonly merge: (incoming: Replica) => Result.Result<MergeReply, MergeError>
  readonly acknowledge: (participant: Participant) => Result.Result<Replica, NotParticipant>
  readonly participate: (options: {
    readonly issuer: Participant
    readonly participant: Participant
  }) => Result.Result<Replica, NotParticipant>
  /** Equal digests: the same knowledge. */
  readonly digest: () => string
  /** The stored form; made once for each version. */
  readonly bytes: () => Uint8Array
  readonly tags: () => ReadonlyArray<Uint8Array>
  readonly participants: () => ReadonlyArray<Participant>
  readonly divergent: () => ReadonlyArray<Divergent>
  readonly holders: (id: EventId) => ReadonlyArray<Participant>
  readonly pending: () => number
  readonly projected: () => unknown
  readonly infimum: () => unknown
  readonly invariants: () => ReadonlyArray<Violation>
}

/** Where a partition is born: equal for all who create it by the same distribution. */
export interface ReplicaBirth {
  readonly key: string
  readonly epoch: number
  readonly participants: ReadonlyArray<Participant>
}

/** An application as the peer hosts it. */
export interface HostedApplication {
  readonly name: string
  readonly version: number
  readonly create: (birth: ReplicaBirth) => Replica
  readonly decode: (stored: Uint8Array) => Result.Result<Replica, UndecodableState>
}

const remember = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

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

/** Prepares an application for a peer; its codecs are compiled here, once. */
export const hostApplication = <E, O, S>(application: Application<E, O, S>): HostedApplication => {
  type State = PowerState<JsonList, JsonList, S>
  const { checked, codec, fold } = batched(application)
  const states = new WeakMap<Replica, State>()
  const stateOf = (replica: Replica): State => {
    const state = states.get(replica)
    if (state === undefined) throw new Error("a replica of another application")
    return state
  }

  const apply = (replica: Replica, state: State, command: ApplyCommand) => {
    const events = Result.try({
      try: () => checked(command.events),
      catch: (cause) => new InvalidEvent({ message: String(cause) })
    })
    if (Result.isFailure(events)) return Result.fail(events.failure)
    const { issuer, pendingMax, request } = command
    const reply = Power.event(fold, state, { issuer, event: events.success, request, pendingMax })
    return Result.map(reply, ({ id, output, state: next }) => ({
      replica: next === state ? replica : replicaOf(next),
      outputs: output,
      id
    }))
  }

  const replicaOf = (state: State, stored?: Uint8Array): Replica => {
    const same = (next: State): Replica => (next === state ? replica : replicaOf(next))
    const digest = remember(() => Power.stateHash(state))
    const replica: Replica = {
      apply: (command) => apply(replica, state, command),
      merge: (incoming) =>
        Result.map(Power.merge(fold, state, stateOf(incoming)), (merged) => ({
          replica: same(merged.state),
          renegades: merged.renegades.length
        })),
      acknowledge: (participant) =>
        Result.map(Power.acknowledge(fold, state, participant), (reduced) => same(reduced.state)),
      participate: (options) => Result.map(Power.participate(fold, state, options), same),
      digest,
      bytes: remember(() => stored ?? encodeStored(digest(), Power.encodeState(codec, state))),
      tags: remember(() => application.index(Power.projectedValue(state))),
      participants: remember(() => Power.projectedParticipants(state)),
      divergent: () => Power.divergent(state),
      holders: (id) => Power.holders(state, id),
      pending: () => Power.pendingCount(state),
      projected: () => codec.state.encode(Power.projectedValue(state)),
      infimum: () => codec.state.encode(Power.infimumValue(state)),
      invariants: () => Power.invariants(fold, state)
    }
    states.set(replica, state)
    return replica
  }

  return {
    name: application.name,
    version: application.version,
    create: ({ epoch, key, participants }) =>
      replicaOf(
        Power.create(fold, {
          origin: { key: `${application.name}:${key}`, epoch, lineage: 0 },
          participants
        })
      ),
    decode: (bytes) =>
      Result.flatMap(decodeStored(bytes), ({ encoded }) =>
        Result.map(Power.decodeState(fold, codec, encoded), (state) => replicaOf(state, bytes))
      )
  }
}
