/**
 * What a participant does to his replica: an event, a join, a leave, an ejection. Each draws one id
 * above all that the replica knows. None acknowledges; do that when all changes of a step are made.
 */
import { Result } from "effect"
import type { Fold } from "./application.ts"
import type { Entry, MembershipEntry } from "./entry.ts"
import {
  EjectedParticipant,
  LastParticipant,
  NotParticipant,
  PendingLimitReached,
  StillLeaving
} from "./errors.ts"
import type { EventId } from "./event-id.ts"
import { eventIdOf } from "./event-id.ts"
import { acknowledgeThrough } from "./acknowledgement.ts"
import {
  isKnownEjected,
  isLeaving,
  isProjectedParticipant,
  leftAt,
  projectedMembers
} from "./membership.ts"
import { divergent, pendingCount } from "./observe.ts"
import type { Participant } from "./participant.ts"
import { projectEntry } from "./projection.ts"
import { findRequest } from "./request-log.ts"
import { itemAt, lastOf, push, sizeOf } from "./sequence.ts"
import type { PowerState } from "./state.ts"
import { NO_OUTPUT } from "./state.ts"

/** How many entries may be pending before events are refused, unless told otherwise. */
export const PENDING_MAX_DEFAULT = 4096

/** An event of the application. */
export interface EventCommand<E> {
  readonly issuer: Participant
  readonly event: E
  /** Names the request, so that a repetition of it is recognised; null for none. */
  readonly request?: string | null
  /** At so many pending entries the event is refused; joins and leaves never are. */
  readonly pendingMax?: number
}

/** The answer to an event. */
export interface EventReply<E, O, S> {
  readonly state: PowerState<E, O, S>
  /** As far as this replica knows; the consistent output may differ. */
  readonly output: O
  /** The id of the event; null when it is a repetition of one that is folded already. */
  readonly id: EventId | null
  /** Whether the request was seen before; then nothing changed. */
  readonly isRepeat: boolean
}

/** Next above all that is known: O(1). */
const nextOrdinal = <E, O, S>(state: PowerState<E, O, S>): number =>
  ((lastOf(state.entries) ?? state.infimum.id)?.ordinal ?? 0) + 1

const append = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  entry: Entry<E>,
  membership: ReadonlyArray<MembershipEntry>
): PowerState<E, O, S> => ({
  origin: state.origin,
  requestWindow: state.requestWindow,
  authority: state.authority,
  isProvisional: state.isProvisional,
  infimum: state.infimum,
  entries: push(state.entries, entry),
  membership,
  seals: state.seals,
  acknowledgements: state.acknowledgements,
  projection: projectEntry(fold, state.requestWindow, state.projection, entry)
})

/** Adds a change of who takes part, with the next id of its issuer. */
export const appendMembership = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  change: (ordinal: number) => MembershipEntry
): PowerState<E, O, S> => {
  const entry = change(nextOrdinal(state))
  return append(fold, state, entry, [...state.membership, entry])
}

const repeated = <E, O, S>(
  state: PowerState<E, O, S>,
  request: string
): EventReply<E, O, S> | null => {
  const found = findRequest(state.projection.requests, request)
  if (found === null) return null
  for (let index = 0; !found.isFolded && index < sizeOf(state.entries); index += 1) {
    const entry = itemAt(state.entries, index)
    if (entry._tag === "Event" && entry.request === request) {
      return { state, output: found.output, id: eventIdOf(entry), isRepeat: true }
    }
  }
  return { state, output: found.output, id: null, isRepeat: true }
}

/**
 * Adds an event at the end of the projection and says its output. A request that is remembered
 * changes nothing and has the output of its first time. O(1), whatever was folded or is pending.
 */
export const event = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  command: EventCommand<E>
): Result.Result<EventReply<E, O, S>, NotParticipant | PendingLimitReached> => {
  const { issuer, request = null, pendingMax = PENDING_MAX_DEFAULT } = command
  const repeat = request === null ? null : repeated(state, request)
  if (repeat !== null) return Result.succeed(repeat)
  if (!isProjectedParticipant(state, issuer)) {
    return Result.fail(new NotParticipant({ participant: issuer }))
  }
  if (pendingCount(state) >= pendingMax) {
    const waitingFor = divergent(state).map((each) => each.participant)
    return Result.fail(new PendingLimitReached({ pendingMax, waitingFor }))
  }
  const ordinal = nextOrdinal(state)
  const entry: Entry<E> = { _tag: "Event", ordinal, issuer, event: command.event, request }
  const next = append(fold, state, entry, state.membership)
  const output = lastOf(next.projection.outputs)
  if (output === undefined || output === NO_OUTPUT) throw new Error("an event has an output")
  return Result.succeed({ state: next, output, id: { ordinal, issuer }, isRepeat: false })
}

/** Why somebody is not let in. */
export type JoinError = NotParticipant | EjectedParticipant | StillLeaving

/**
 * Lets another take part. Nothing changes when he does already. He begins with a state that holds
 * this Join, and counts from the moment it is folded. One who left comes again when his Leave is
 * folded: then everyone knows his last word. One who was ejected comes only under a higher
 * incarnation.
 */
export const participate = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  command: { readonly issuer: Participant; readonly participant: Participant }
): Result.Result<PowerState<E, O, S>, JoinError> => {
  const { issuer, participant } = command
  if (!isProjectedParticipant(state, issuer)) {
    return Result.fail(new NotParticipant({ participant: issuer }))
  }
  if (isProjectedParticipant(state, participant)) return Result.succeed(state)
  if (isKnownEjected(state, participant)) {
    return Result.fail(new EjectedParticipant({ participant }))
  }
  if (isLeaving(state.membership, participant)) {
    return Result.fail(new StillLeaving({ participant }))
  }
  return Result.succeed(
    appendMembership(fold, state, (ordinal) => ({
      _tag: "Join",
      ordinal,
      issuer,
      participant,
      after: leftAt(state.infimum, participant)
    }))
  )
}

/**
 * The participant leaves. He acknowledges with it all that he holds, and that is his last word: he
 * writes and acknowledges nothing after it, and only repeats this state until the others have it.
 */
export const disassociate = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  participant: Participant
): Result.Result<PowerState<E, O, S>, NotParticipant | LastParticipant> => {
  const projected = projectedMembers(state)
  if (!isProjectedParticipant(state, participant)) {
    return Result.fail(new NotParticipant({ participant }))
  }
  if (projected.length === 1) return Result.fail(new LastParticipant({ participant }))
  const next = appendMembership(fold, state, (ordinal) => ({
    _tag: "Leave",
    ordinal,
    issuer: participant
  }))
  const end = state.infimum.count + sizeOf(next.entries)
  return Result.succeed({
    ...next,
    acknowledgements: acknowledgeThrough(next.acknowledgements, participant, end)
  })
}
