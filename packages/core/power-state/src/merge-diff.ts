/**
 * A replica hears a diff: it makes the sender's state of it again, out of what itself holds, and
 * hears that. Where it cannot, nothing is taken and a full state is needed.
 */
import { Result } from "effect"
import type { Fold } from "./application.ts"
import type { Diff, Mark } from "./diff.ts"
import { digestOfIds, knownOf } from "./diff.ts"
import { digestOf, hasherFrom, mixEventId, sameDigest } from "./digest.ts"
import type { Entry } from "./entry.ts"
import { isMembershipEntry } from "./entry.ts"
import type { MergeError, SenderRefused } from "./errors.ts"
import { DiffTooNew, DiffTooSparse, InfimumDigestMismatch } from "./errors.ts"
import { compareEventIds, compareMarks, formatEventId } from "./event-id.ts"
import { hear } from "./hear.ts"
import { isEjectedMember } from "./membership.ts"
import type { Merged } from "./merge.ts"
import type { Participant } from "./participant.ts"
import { sameParticipant } from "./participant.ts"
import { emptyProjection, projectEntries } from "./projection.ts"
import { foldFirst } from "./reduce.ts"
import { foldedRequests } from "./request-log.ts"
import { itemAt, sequenceOf, sizeOf, toArray } from "./sequence.ts"
import type { PowerState, Seal } from "./state.ts"

type AnyState = PowerState<unknown, unknown, unknown>

/** Why a diff cannot be merged; a full state can. */
export type DiffError = DiffTooNew | DiffTooSparse | InfimumDigestMismatch

/** Whether the first `count` entries of this replica lead to the infimum of the diff. */
const leadsTo = (local: AnyState, { digest, id }: Mark, count: number): boolean => {
  if (count > 0 && compareMarks(itemAt(local.entries, count - 1), id) !== 0) return false
  const hasher = hasherFrom(local.infimum.digest)
  for (let index = 0; index < count; index += 1) mixEventId(hasher, itemAt(local.entries, index))
  return sameDigest(digestOf(hasher), digest)
}

/** Whether the marks of all ejections among these entries are known. */
const isAllDecided = (
  entries: ReadonlyArray<Entry<unknown>>,
  decided: ReadonlyArray<Seal>
): boolean =>
  entries.every(
    (entry) =>
      entry._tag !== "Eject" ||
      decided.some((each) => sameParticipant(each.participant, entry.participant))
  )

/** This replica with the sender's infimum: its own first entries folded up to there. */
const atInfimumOf = <E, O, S>(
  fold: Fold<E, O, S>,
  local: PowerState<E, O, S>,
  { decided, infimum }: Diff<E>
): Result.Result<PowerState<E, O, S>, DiffError> => {
  const { id } = infimum
  const count = infimum.count - local.infimum.count
  if (count > sizeOf(local.entries)) return Result.fail(new DiffTooNew({ id }))
  if (count < 0) return Result.fail(new DiffTooSparse({ id }))
  if (!leadsTo(local, infimum, count)) {
    return compareMarks(id, local.infimum.id) === 0
      ? Result.fail(new InfimumDigestMismatch({ id }))
      : Result.fail(new DiffTooSparse({ id }))
  }
  const seals = decided.filter(({ participant }) => !isEjectedMember(local.infimum, participant))
  if (!isAllDecided(toArray(local.entries).slice(0, count), decided)) {
    return Result.fail(new DiffTooSparse({ id }))
  }
  return Result.succeed(foldFirst(fold, { ...local, seals }, count).state)
}

/** The sender's pending entries: those of this replica that he holds too, and what he sent. */
const entriesOf = <E, O, S>(
  reached: PowerState<E, O, S>,
  { entries, known }: Diff<E>
): ReadonlyArray<Entry<E>> => {
  const own = toArray(reached.entries).filter(
    ({ issuer, ordinal }) => ordinal <= knownOf(known, issuer)
  )
  const ids = new Set(own.map(formatEventId))
  const sent = entries.filter((entry) => !ids.has(formatEventId(entry)))
  return [...own, ...sent].sort(compareEventIds)
}

/**
 * The state of the sender, made again out of what this replica holds and the diff; refused where
 * that does not give it. Where this replica has folded more, it is the sender's state with that
 * folded too. O(pending of both).
 */
export const receive = <E, O, S>(
  fold: Fold<E, O, S>,
  local: PowerState<E, O, S>,
  received: Diff<E>
): Result.Result<PowerState<E, O, S>, DiffError> =>
  Result.flatMap(atInfimumOf(fold, local, received), (reached) => {
    const { acknowledgements, decided, infimum, isProvisional, origin, pending } = received
    const entries = entriesOf(reached, received)
    const end = infimum.count + entries.length
    const isWhole =
      entries.length === pending.count &&
      sameDigest(digestOfIds(entries), pending.digest) &&
      entries.every((entry) => compareMarks(entry, infimum.id) > 0) &&
      acknowledgements.every(({ beyond, through }) => Math.max(through, ...beyond) <= end)
    if (!isWhole) return Result.fail(new DiffTooSparse({ id: infimum.id }))
    const empty = emptyProjection<O, S>(
      reached.infimum.value,
      foldedRequests(reached.projection.requests)
    )
    return Result.succeed({
      ...reached,
      origin,
      // What is folded here was confirmed, whether the sender knows it or not.
      isProvisional: isProvisional && reached.infimum.id === null,
      entries: sequenceOf(Array.from(entries)),
      membership: entries.filter(isMembershipEntry),
      acknowledgements,
      seals: decided.filter(({ participant }) => !isEjectedMember(reached.infimum, participant)),
      projection: projectEntries(fold, reached.requestWindow, empty, entries)
    })
  })

/**
 * The state of `to` after it has heard a diff of `from`: just what `hear` makes of the full state.
 * O(pending of both).
 */
export const mergeDiff = <E, O, S>(
  fold: Fold<E, O, S>,
  local: PowerState<E, O, S>,
  delivery: { readonly from: Participant; readonly to: Participant; readonly diff: Diff<E> }
): Result.Result<Merged<E, O, S>, MergeError | SenderRefused | DiffError> => {
  const { diff, from, to } = delivery
  return Result.flatMap(receive(fold, local, diff), (state) =>
    hear(fold, local, { from, to, state })
  )
}
