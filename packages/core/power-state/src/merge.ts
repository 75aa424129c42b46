/**
 * Merges what two replicas know: full states, in any order, any number of times.
 *
 *   local     [ inf 5 ]  6  7  .  9          infimum: the higher of both
 *   incoming  [ inf   6 ]   7  8  .          entries: the union above it
 *   merged    [ inf   6 ]   7  8  9          acknowledgements: the union, then fold
 *
 * 1. Commutative, associative and idempotent on all that can be observed.
 * 2. Nothing is dropped silently: entries that cannot count any more are returned as renegades.
 * 3. A birth that one side knows to be confirmed is confirmed.
 * 4. When nothing is new the very same local state comes back.
 */
import { Result } from "effect"
import type { Acknowledgements } from "./acknowledgement.ts"
import {
  acknowledgementFrom,
  covers,
  findAcknowledgement,
  sameAcknowledgements
} from "./acknowledgement.ts"
import type { Fold } from "./application.ts"
import { digestOf, hasherFrom, mixEventId, sameDigest } from "./digest.ts"
import type { Entry, MembershipEntry } from "./entry.ts"
import { isMembershipEntry } from "./entry.ts"
import type { MergeError } from "./errors.ts"
import { DifferentLineage, DifferentOrigins, InfimumDigestMismatch } from "./errors.ts"
import { compareEventIds, compareMarks } from "./event-id.ts"
import { everybody, isEjecting } from "./membership.ts"
import type { Union } from "./merge-entries.ts"
import { uniteEntries } from "./merge-entries.ts"
import { sameBirth } from "./origin.ts"
import { emptyProjection, projectEntries } from "./projection.ts"
import type { Reduced } from "./reduce.ts"
import { foldFirst, reduce } from "./reduce.ts"
import { foldedRequests } from "./request-log.ts"
import { uniteSeals } from "./seal.ts"
import { itemAt, push, sequenceOf, sizeOf } from "./sequence.ts"
import type { ConsistentOutput, PowerState, Seal } from "./state.ts"
import { structurallyEqual } from "./structural-equality.ts"

/** What a merge gives. */
export interface Merged<E, O, S> {
  readonly state: PowerState<E, O, S>
  /** Of the entries that this merge folded and this replica held. */
  readonly outputs: ReadonlyArray<ConsistentOutput<O>>
  /** Entries of either side that cannot count any more: submit their requests again. */
  readonly renegades: ReadonlyArray<Entry<E>>
  /**
   * Those of them that this replica held until now, and gives back only this once: keep them safe
   * in the same step that saves the state.
   */
  readonly dropped: ReadonlyArray<Entry<E>>
}

/** Folding an Eject needs the mark that was decided; whoever folded it knows that. */
const withDecisionsOf = <E, O, S>(
  local: PowerState<E, O, S>,
  incoming: PowerState<E, O, S>
): PowerState<E, O, S> => {
  const decided = incoming.infimum.departed.filter(
    (each) => each.reason === "ejected" && isEjecting(local.membership, each.participant)
  )
  return decided.length === 0 && incoming.seals.length === 0
    ? local
    : { ...local, seals: [...local.seals, ...incoming.seals, ...decided] }
}

/**
 * Folds the local entries up to the incoming infimum, if they are exactly those that were folded
 * there; the digest tells. So this replica learns their outputs too, and keeps its own value.
 */
const catchUp = <E, O, S>(
  fold: Fold<E, O, S>,
  local: PowerState<E, O, S>,
  incoming: PowerState<E, O, S>
): Reduced<E, O, S> => {
  const count = incoming.infimum.count - local.infimum.count
  const { id } = incoming.infimum
  if (id === null || count <= 0 || count > sizeOf(local.entries)) {
    return { state: local, outputs: [] }
  }
  if (compareEventIds(itemAt(local.entries, count - 1), id) !== 0) {
    return { state: local, outputs: [] }
  }
  const hasher = hasherFrom(local.infimum.digest)
  for (let index = 0; index < count; index += 1) mixEventId(hasher, itemAt(local.entries, index))
  return sameDigest(digestOf(hasher), incoming.infimum.digest)
    ? foldFirst(fold, withDecisionsOf(local, incoming), count)
    : { state: local, outputs: [] }
}

const checkOrigins = <E, O, S>(
  local: PowerState<E, O, S>,
  incoming: PowerState<E, O, S>
): MergeError | null => {
  const origins = { local: local.origin, incoming: incoming.origin }
  if (!sameBirth(local.origin, incoming.origin)) return new DifferentOrigins(origins)
  return local.origin.lineage === incoming.origin.lineage ? null : new DifferentLineage(origins)
}

/** One list of both sides' acknowledgements, over the positions of the union. */
const uniteAcknowledgements = <E, O, S>(
  base: PowerState<E, O, S>,
  sides: { readonly left: PowerState<E, O, S>; readonly right: PowerState<E, O, S> },
  union: Union<E>,
  membership: ReadonlyArray<MembershipEntry>
): Acknowledgements => {
  const first = base.infimum.count
  const leftFirst = sides.left.infimum.count
  const rightFirst = sides.right.infimum.count
  return everybody(base.infimum, membership).flatMap((participant) => {
    const left = findAcknowledgement(sides.left.acknowledgements, participant)
    const right = findAcknowledgement(sides.right.acknowledgements, participant)
    if (left === undefined && right === undefined) return []
    const isHeld = (position: number): boolean => {
      const atLeft = union.left[position - first]!
      const atRight = union.right[position - first]!
      return (
        (atLeft >= 0 && covers(left, leftFirst + atLeft)) ||
        (atRight >= 0 && covers(right, rightFirst + atRight))
      )
    }
    return [acknowledgementFrom(participant, first, first + union.entries.length, isHeld)]
  })
}

/** How many of the first entries of the union are the base's own, in a row from its beginning. */
const commonPrefix = <E>(base: PowerState<E, unknown, unknown>, union: Union<E>): number => {
  let count = 0
  while (
    count < union.entries.length &&
    count < sizeOf(base.entries) &&
    union.entries[count] === itemAt(base.entries, count)
  ) {
    count += 1
  }
  return count
}

/** The base with the entries of the union; what of its projection still holds is kept. */
const withEntries = <E, O, S>(
  fold: Fold<E, O, S>,
  base: PowerState<E, O, S>,
  union: Union<E>
): PowerState<E, O, S> => {
  const own = sizeOf(base.entries)
  const isPrefix = commonPrefix(base, union) === own
  if (isPrefix && union.entries.length === own) return base
  const membership = union.entries.filter(isMembershipEntry)
  if (isPrefix) {
    const added = union.entries.slice(own)
    let { entries } = base
    for (const entry of added) entries = push(entries, entry)
    const projection = projectEntries(fold, base.requestWindow, base.projection, added)
    return { ...base, entries, membership, projection }
  }
  const empty = emptyProjection(base.infimum.value, foldedRequests(base.projection.requests))
  return {
    ...base,
    entries: sequenceOf(Array.from(union.entries)),
    membership,
    projection: projectEntries(fold, base.requestWindow, empty, union.entries)
  }
}

const combine = <E, O, S>(
  fold: Fold<E, O, S>,
  base: PowerState<E, O, S>,
  sides: { readonly left: PowerState<E, O, S>; readonly right: PowerState<E, O, S> },
  union: Union<E>,
  seals: ReadonlyArray<Seal>
): PowerState<E, O, S> => {
  const joined = withEntries(fold, base, union)
  const acknowledgements = uniteAcknowledgements(base, sides, union, joined.membership)
  const isProvisional = sides.left.isProvisional && sides.right.isProvisional
  const isKnown =
    joined === sides.left &&
    joined.isProvisional === isProvisional &&
    sameAcknowledgements(acknowledgements, joined.acknowledgements, joined.infimum.count) &&
    structurallyEqual(seals, joined.seals)
  return isKnown ? joined : { ...joined, isProvisional, acknowledgements, seals }
}

/** What both know, with nothing folded or decided beyond what one of them had folded or decided. */
export const unite = <E, O, S>(
  fold: Fold<E, O, S>,
  local: PowerState<E, O, S>,
  incoming: PowerState<E, O, S>
): Result.Result<Merged<E, O, S>, MergeError> => {
  const refusal = checkOrigins(local, incoming)
  if (refusal !== null) return Result.fail(refusal)
  const caughtUp = catchUp(fold, local, incoming)
  const left = caughtUp.state
  const order = compareMarks(left.infimum.id, incoming.infimum.id)
  if (order === 0 && !sameDigest(left.infimum.digest, incoming.infimum.digest)) {
    return Result.fail(new InfimumDigestMismatch({ id: left.infimum.id }))
  }
  const base = order < 0 ? incoming : left
  const seals = uniteSeals(base, left, incoming)
  const history = { infimum: base.infimum, seals }
  const union = uniteEntries(history, left.entries, incoming.entries)
  if (Result.isFailure(union)) return Result.fail(union.failure)
  const { dropped, renegades } = union.success
  const state = combine(fold, base, { left, right: incoming }, union.success, seals)
  return Result.succeed({ state, outputs: caughtUp.outputs, renegades, dropped })
}

/** The same, and what can be folded now is folded. */
export const folded = <E, O, S>(
  fold: Fold<E, O, S>,
  local: PowerState<E, O, S>,
  united: Merged<E, O, S>
): Merged<E, O, S> => {
  if (united.state === local) return united
  const { outputs, state } = reduce(fold, united.state)
  return {
    ...united,
    state,
    outputs: outputs.length === 0 ? united.outputs : [...united.outputs, ...outputs]
  }
}

/**
 * What `local` knows after `incoming`, whoever sent it: for states of one's own, and for others that
 * are known to be in good standing. For what comes from another replica use `hear`. Acknowledge
 * afterwards, save, and only then let the result leave. Linear in the pending entries of both;
 * constant in what was ever folded.
 */
export const merge = <E, O, S>(
  fold: Fold<E, O, S>,
  local: PowerState<E, O, S>,
  incoming: PowerState<E, O, S>
): Result.Result<Merged<E, O, S>, MergeError> =>
  Result.map(unite(fold, local, incoming), (united) => folded(fold, local, united))
