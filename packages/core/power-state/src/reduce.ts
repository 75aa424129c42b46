/**
 * Folds into the infimum what all who must have acknowledged it have.
 *
 * Why it is safe: an acknowledgement travels only with the whole state of the one who gives it. So
 * a replica that has everybody's acknowledgement of an entry has every entry that anybody drew
 * before he acknowledged, and whatever he draws later sorts above. Nothing can come below it any
 * more. A participant whose Leave is known is not asked: his last state came with the Leave, and he
 * draws nothing after it. Nor is one whose ejection is decided: all survivors hold the same entries
 * of him, and whatever else he drew does not count.
 */
import { heldThrough, settle } from "./acknowledgement.ts"
import type { Fold } from "./application.ts"
import { digestOf, hasherFrom, mixEventId } from "./digest.ts"
import type { MembershipEntry } from "./entry.ts"
import { eventIdOf } from "./event-id.ts"
import { everybody, isEjecting, isLeaving } from "./membership.ts"
import type { MembershipDraft } from "./membership-draft.ts"
import { draftOf, foldMembership, markFolded } from "./membership-draft.ts"
import type { Participant } from "./participant.ts"
import { includesParticipant, sameParticipant } from "./participant.ts"
import { foldRequests } from "./request-log.ts"
import { dropFirst, itemAt, sizeOf } from "./sequence.ts"
import type { ConsistentOutput, Infimum, PowerState, Seal } from "./state.ts"
import { NO_OUTPUT } from "./state.ts"

/** A state after folding, and the outputs whose place in the order became fixed by it. */
export interface Reduced<E, O, S> {
  readonly state: PowerState<E, O, S>
  readonly outputs: ReadonlyArray<ConsistentOutput<O>>
}

const NO_OUTPUTS: ReadonlyArray<never> = []

/**
 * Whether the acknowledgement of a member is not needed any more: his ejection is decided, or he
 * leaves. Of one who leaves and is being ejected the decision is awaited, so that he has one mark.
 */
const isOutOfQuestion = (
  draft: MembershipDraft,
  membership: ReadonlyArray<MembershipEntry>,
  participant: Participant
): boolean => {
  if (draft.seals.some((each) => sameParticipant(each.participant, participant))) return true
  return (
    membership.length > 0 &&
    isLeaving(membership, participant) &&
    !isEjecting(membership, participant)
  )
}

/** How many of the pending entries may be folded under this membership. */
const foldableCount = <E, O, S>(
  state: PowerState<E, O, S>,
  draft: MembershipDraft,
  membership: ReadonlyArray<MembershipEntry>
): number => {
  let count = sizeOf(state.entries)
  for (const { participant } of draft.members) {
    if (isOutOfQuestion(draft, membership, participant)) continue
    const held = heldThrough(state.acknowledgements, participant) - state.infimum.count
    count = Math.min(count, held)
  }
  return count
}

/**
 * The value after the first `count` entries. The remembered requests of the pending entries stand
 * in their order; an event whose request is not the next of them was a repeat.
 */
const replay = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  count: number
): { readonly value: S; readonly requests: number } => {
  const { requests } = state.projection
  let value = state.infimum.value
  let remembered = requests.folded
  for (let index = 0; index < count; index += 1) {
    const entry = itemAt(state.entries, index)
    if (entry._tag !== "Event") continue
    if (entry.request !== null) {
      const isNext =
        remembered < sizeOf(requests.seen) &&
        itemAt(requests.seen, remembered).request === entry.request
      if (!isNext) continue
      remembered += 1
    }
    value = fold.apply(entry.event, value).state
  }
  return { value, requests: remembered - requests.folded }
}

/** The value after the first `count` entries, at no cost when those are all. */
const valueAfter = <E, O, S>(fold: Fold<E, O, S>, state: PowerState<E, O, S>, count: number) =>
  count < sizeOf(state.entries)
    ? replay(fold, state, count)
    : {
        value: state.projection.value,
        requests: sizeOf(state.projection.requests.seen) - state.projection.requests.folded
      }

/** What folding gave. */
interface Folded<S> {
  readonly infimum: Infimum<S>
  readonly membership: ReadonlyArray<MembershipEntry>
  readonly seals: ReadonlyArray<Seal>
  /** How many of the folded entries' requests are remembered. */
  readonly requests: number
}

const withInfimum = <E, O, S>(
  state: PowerState<E, O, S>,
  { infimum, membership, requests, seals }: Folded<S>
): PowerState<E, O, S> => {
  const count = infimum.count - state.infimum.count
  const { outputs, value, requests: log } = state.projection
  const remaining = membership === state.membership ? null : everybody(infimum, membership)
  const kept =
    remaining === null
      ? state.acknowledgements
      : state.acknowledgements.filter((each) => includesParticipant(remaining, each.participant))
  return {
    origin: state.origin,
    requestWindow: state.requestWindow,
    authority: state.authority,
    isProvisional: state.isProvisional,
    infimum,
    entries: dropFirst(state.entries, count),
    membership,
    seals,
    acknowledgements: settle(kept, infimum.count),
    projection: {
      value,
      outputs: dropFirst(outputs, count),
      requests: foldRequests(log, requests, state.requestWindow)
    }
  }
}

/**
 * Folds entries from the front while `limitOf`, asked again after each join and leave, allows more.
 * Linear in the entries folded.
 */
const foldWhile = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  limitOf: (draft: MembershipDraft, membership: ReadonlyArray<MembershipEntry>) => number
): Reduced<E, O, S> => {
  const draft = draftOf(state.infimum, state.seals)
  const hasher = hasherFrom(state.infimum.digest)
  const fixed: Array<ConsistentOutput<O>> = []
  let { membership } = state
  let limit = limitOf(draft, membership)
  let count = 0
  while (count < limit) {
    const entry = itemAt(state.entries, count)
    const output = itemAt(state.projection.outputs, count)
    mixEventId(hasher, entry)
    markFolded(draft, entry.issuer, entry.ordinal)
    count += 1
    if (entry._tag !== "Event") {
      foldMembership(draft, entry)
      membership = membership.slice(1)
      limit = limitOf(draft, membership)
    } else if (output !== NO_OUTPUT) {
      fixed.push({ id: eventIdOf(entry), request: entry.request, output })
    }
  }
  if (count === 0) return { state, outputs: NO_OUTPUTS }
  const after = valueAfter(fold, state, count)
  const infimum = {
    id: eventIdOf(itemAt(state.entries, count - 1)),
    count: state.infimum.count + count,
    value: after.value,
    members: draft.members,
    departed: draft.departed,
    digest: digestOf(hasher)
  }
  const { requests } = after
  const next = withInfimum(state, { infimum, membership, seals: draft.seals, requests })
  return { state: next, outputs: fixed }
}

/**
 * Folds all that is acknowledged by everyone who is asked; nothing of a provisional birth.
 * O(members) when nothing is.
 */
export const reduce = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>
): Reduced<E, O, S> =>
  state.isProvisional || sizeOf(state.entries) === 0
    ? { state, outputs: NO_OUTPUTS }
    : foldWhile(fold, state, (draft, membership) => foldableCount(state, draft, membership))

/** Folds the first `count` pending entries, which another replica is known to have folded. */
export const foldFirst = <E, O, S>(
  fold: Fold<E, O, S>,
  state: PowerState<E, O, S>,
  count: number
): Reduced<E, O, S> => foldWhile(fold, state, () => count)
