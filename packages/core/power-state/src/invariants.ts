/**
 * What holds of every state, checked the slow way. Tests, the simulator and now and then a running
 * peer ask.
 */
import type { Fold } from "./application.ts"
import type { Entry } from "./entry.ts"
import { compareEventIds, compareMarks, formatEventId } from "./event-id.ts"
import { isEjectedMember, isEjecting } from "./membership.ts"
import { isFolded } from "./merge-entries.ts"
import { compareParticipants, formatParticipant } from "./participant.ts"
import { emptyProjection, projectEntries } from "./projection.ts"
import { foldedRequests } from "./request-log.ts"
import { bySealed } from "./seal.ts"
import { sizeOf, toArray } from "./sequence.ts"
import type { PowerState } from "./state.ts"
import { structurallyEqual } from "./structural-equality.ts"
import { validityWalk } from "./validity.ts"

/** A broken invariant. */
export interface Violation {
  readonly invariant: string
  readonly detail: string
}

const ascends = <A>(items: ReadonlyArray<A>, compare: (left: A, right: A) => number): boolean =>
  items.every((item, index) => index === 0 || compare(items[index - 1]!, item) < 0)

const ofEntries = <E>(state: PowerState<E, unknown, unknown>): ReadonlyArray<Violation> => {
  const entries = toArray(state.entries)
  const violations: Array<Violation> = []
  const isValid = validityWalk(state.infimum, state.seals)
  const say = (invariant: string, detail: string) => violations.push({ invariant, detail })
  if (!ascends<Entry<E>>(entries, compareEventIds)) say("pending ids ascend", "out of order")
  for (const entry of entries) {
    const id = formatEventId(entry)
    if (compareMarks(entry, state.infimum.id) <= 0) say("pending above the infimum", id)
    if (isFolded(state.infimum, entry)) say("nothing is pending that was folded", id)
    if (!isValid(entry)) say("every pending entry counts", id)
  }
  const membership = entries.filter((entry) => entry._tag !== "Event")
  if (!structurallyEqual(membership, state.membership)) {
    say("membership lists the joins, leaves and ejections", `${membership.length} pending`)
  }
  return violations
}

const ofAcknowledgements = (
  state: PowerState<unknown, unknown, unknown>
): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const end = state.infimum.count + sizeOf(state.entries)
  const byParticipant = state.acknowledgements.map((each) => each.participant)
  if (!ascends(byParticipant, compareParticipants)) {
    violations.push({ invariant: "acknowledgements are sorted", detail: "out of order" })
  }
  for (const { beyond, participant, through } of state.acknowledgements) {
    const isNormal =
      through <= end &&
      ascends(beyond, (left, right) => left - right) &&
      beyond.every((position) => position > through && position < end)
    if (!isNormal) {
      const detail = `${formatParticipant(participant)} through ${through} of ${end}`
      violations.push({ invariant: "acknowledgements are normal", detail })
    }
  }
  return violations
}

const ofInfimum = (state: PowerState<unknown, unknown, unknown>): ReadonlyArray<Violation> => {
  const { departed, members } = state.infimum
  const violations: Array<Violation> = []
  const say = (invariant: string, detail: string) => violations.push({ invariant, detail })
  const names = members.map((each) => each.participant)
  if (state.isProvisional && state.infimum.id !== null) {
    say("a provisional birth folds nothing", formatEventId(state.infimum.id))
  }
  if (!ascends(names, compareParticipants)) say("members are sorted", `${names.length} members`)
  for (const { participant } of departed) {
    if (names.some((each) => compareParticipants(each, participant) === 0)) {
      say("nobody is member and departed", formatParticipant(participant))
    }
  }
  for (const { participant } of state.seals) {
    if (isEjectedMember(state.infimum, participant)) {
      say("nobody is ejected twice", formatParticipant(participant))
    }
    if (!isEjecting(state.membership, participant)) {
      say("only an ejection is decided", formatParticipant(participant))
    }
  }
  if (!ascends(state.seals, bySealed)) say("decisions are sorted", "out of order")
  if (state.projection.requests.folded > state.requestWindow) {
    say("the request window is bounded", `${state.projection.requests.folded} remembered`)
  }
  return violations
}

const ofProjection = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>
): ReadonlyArray<Violation> => {
  const { outputs, requests, value } = state.projection
  const anew = projectEntries(
    fold,
    state.requestWindow,
    emptyProjection(state.infimum.value, foldedRequests(requests)),
    toArray(state.entries)
  )
  const isSame =
    structurallyEqual(anew.value, value) &&
    structurallyEqual(toArray(anew.outputs), toArray(outputs)) &&
    structurallyEqual(toArray(anew.requests.seen), toArray(requests.seen))
  return isSame
    ? []
    : [{ invariant: "the projection is the fold of the pending entries", detail: "it differs" }]
}

/** All that is wrong with a state; nothing, in a sound program. O(pending). */
export const invariants = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>
): ReadonlyArray<Violation> => [
  ...ofEntries(state),
  ...ofAcknowledgements(state),
  ...ofInfimum(state),
  ...ofProjection(fold, state)
]
