/**
 * What an operator does when too few are left to decide an ejection: one replica goes on alone, in
 * a new lineage, and the others go over to it.
 *
 *   lineage 0    a: 1 2 3     b: 1 2 4     c, d, e: gone
 *   forced at a, without c, d, e          => lineage n: all of a is folded, members a and b
 *   b goes over                           => the state of a; 4 is given back to b
 *
 * 1. States of different lineages are never merged: `merge` and `hear` refuse them.
 * 2. Nothing that the forced replica holds is lost; what others hold beyond it is given back to
 *    them. What another has folded beyond it could not be given back, so going over is refused.
 */
import { Result } from "effect"
import type { Fold } from "./application.ts"
import { digestOf, hasherFrom, mixNumber, mixText } from "./digest.ts"
import type { Entry } from "./entry.ts"
import { isMembershipEntry } from "./entry.ts"
import {
  DifferentOrigins,
  HistoryNotContained,
  LineageNotHigher,
  NotParticipant,
  SelfEjection
} from "./errors.ts"
import { compareEventIds } from "./event-id.ts"
import { isMember } from "./membership.ts"
import { draftOf, foldMembership } from "./membership-draft.ts"
import { isFolded } from "./merge-entries.ts"
import { sameBirth } from "./origin.ts"
import type { Participant } from "./participant.ts"
import { includesParticipant, sameParticipant } from "./participant.ts"
import { emptyProjection, projectEntries } from "./projection.ts"
import type { Reduced } from "./reduce.ts"
import { foldFirst } from "./reduce.ts"
import { foldedRequests } from "./request-log.ts"
import { highestKnown } from "./seal.ts"
import { itemAt, sequenceOf, sizeOf, toArray } from "./sequence.ts"
import { placeOfId } from "./standing.ts"
import type { Infimum, PowerState, Seal } from "./state.ts"

/** What an operator decides. */
export interface ForceCommand {
  /** Whose replica this is; he stays. */
  readonly issuer: Participant
  /** All who are out. Whoever else takes part stays, whatever other ejections were pending. */
  readonly ejected: ReadonlyArray<Participant>
  /** Above the present one, and drawn at random, so that no two operators begin the same. */
  readonly lineage: number
}

/** Why an ejection cannot even be forced. */
export type ForceError = NotParticipant | SelfEjection | LineageNotHigher

/** All pending entries folded, but for ejections that the operator overrules. */
const foldAll = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  seals: ReadonlyArray<Seal>
): Reduced<E, O, S> => {
  const entries = toArray(state.entries).filter(
    (entry) =>
      entry._tag !== "Eject" ||
      seals.some((each) => sameParticipant(each.participant, entry.participant))
  )
  const empty = emptyProjection<O, S>(
    state.infimum.value,
    foldedRequests(state.projection.requests)
  )
  return foldFirst(
    fold,
    {
      ...state,
      entries: sequenceOf(entries),
      membership: entries.filter(isMembershipEntry),
      seals,
      acknowledgements: [],
      projection: projectEntries(fold, state.requestWindow, empty, entries)
    },
    entries.length
  )
}

/** Those out who had no Eject among the entries are put out now. */
const withoutEjected = <S>(
  infimum: Infimum<S>,
  seals: ReadonlyArray<Seal>,
  { issuer, lineage }: ForceCommand
): Infimum<S> => {
  const draft = draftOf(infimum, seals)
  for (const { participant } of seals) {
    foldMembership(draft, { _tag: "Eject", ordinal: 1, issuer, participant })
  }
  const hasher = hasherFrom(infimum.digest)
  mixText(hasher, "forced")
  mixNumber(hasher, lineage)
  return {
    ...infimum,
    members: draft.members,
    departed: draft.departed,
    digest: digestOf(hasher)
  }
}

/**
 * Ejects without the authority to do so, and begins a new lineage. Save the result, and let the
 * other participants go over to it. Linear in the pending entries.
 */
export const forceEject = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  command: ForceCommand
): Result.Result<Reduced<E, O, S>, ForceError> => {
  const { ejected, issuer, lineage } = command
  if (includesParticipant(ejected, issuer)) {
    return Result.fail(new SelfEjection({ participant: issuer }))
  }
  if (lineage <= state.origin.lineage) {
    return Result.fail(new LineageNotHigher({ local: state.origin.lineage, incoming: lineage }))
  }
  const decided = ejected
    .filter(
      (each) =>
        !includesParticipant(
          state.seals.map(({ participant }) => participant),
          each
        )
    )
    .map((participant) => ({ participant, mark: highestKnown(state, participant) }))
  const seals = [...state.seals, ...decided]
  const folded = foldAll(fold, state, seals)
  const infimum = withoutEjected(folded.state.infimum, seals, command)
  if (!isMember(infimum.members, issuer)) {
    return Result.fail(new NotParticipant({ participant: issuer }))
  }
  const { epoch, key } = state.origin
  return Result.succeed({
    state: {
      ...folded.state,
      origin: { key, epoch, lineage },
      isProvisional: false,
      infimum,
      seals: [],
      acknowledgements: []
    },
    outputs: folded.outputs
  })
}

/** What going over to another lineage gives. */
export interface Adopted<E, O, S> {
  readonly state: PowerState<E, O, S>
  /** What only this replica held: keep it safe with the state, and submit the requests again. */
  readonly dropped: ReadonlyArray<Entry<E>>
}

/** Why a replica cannot go over to a lineage. */
export type AdoptError = DifferentOrigins | LineageNotHigher | HistoryNotContained

/** A replica goes over to the lineage that an operator forced. Linear in the pending entries. */
export const adopt = <E, O, S>(
  local: PowerState<E, O, S>,
  incoming: PowerState<E, O, S>
): Result.Result<Adopted<E, O, S>, AdoptError> => {
  const origins = { local: local.origin, incoming: incoming.origin }
  if (!sameBirth(local.origin, incoming.origin)) return Result.fail(new DifferentOrigins(origins))
  if (incoming.origin.lineage <= local.origin.lineage) {
    const lineages = { local: local.origin.lineage, incoming: incoming.origin.lineage }
    return Result.fail(new LineageNotHigher(lineages))
  }
  const missing = local.infimum.members.filter(
    ({ folded, participant }) =>
      folded > 0 && !isFolded(incoming.infimum, { ordinal: folded, issuer: participant })
  )
  if (missing.length > 0) {
    const participants = missing.map((each) => each.participant)
    return Result.fail(new HistoryNotContained({ participants }))
  }
  const isThere = (entry: Entry<E>): boolean => {
    const place = placeOfId(incoming.entries, entry)
    return (
      isFolded(incoming.infimum, entry) ||
      (place < sizeOf(incoming.entries) &&
        compareEventIds(itemAt(incoming.entries, place), entry) === 0)
    )
  }
  const dropped = toArray(local.entries).filter((entry) => !isThere(entry))
  return Result.succeed({ state: incoming, dropped })
}
