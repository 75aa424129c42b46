/**
 * What one replica sends another that has told what it holds, in place of a full state.
 *
 *   receiver reports     infimum 5@a, digest;   known: a up to 8, b up to 7
 *   sender               [ infimum 6@b ]  7@b  8@a  9@b  9@c      acknowledgements, decisions
 *   diff                 infimum 6@b, digest;   9@b  9@c          the same, over all four
 *
 * 1. A replica that holds an entry holds all earlier ones of its issuer. So one ordinal for each
 *    issuer says all that is held, and what both sides say gives the receiver the sender's own list
 *    of entries again; its hash is compared. So what is merged is the full state, or nothing.
 * 2. It is made against a report of this very incarnation and boot of the receiver; nothing is
 *    inferred from what the sender knows otherwise.
 */
import { Result } from "effect"
import type { Acknowledgements } from "./acknowledgement.ts"
import { settle } from "./acknowledgement.ts"
import { digestOf, hasherFrom, mixEventId, newHasher, sameDigest } from "./digest.ts"
import type { Digest } from "./digest.ts"
import type { Entry } from "./entry.ts"
import { FullStateNeeded } from "./errors.ts"
import type { EventId } from "./event-id.ts"
import { compareEventIds } from "./event-id.ts"
import { sameOrigin } from "./origin.ts"
import type { Origin } from "./origin.ts"
import type { Participant } from "./participant.ts"
import { sameParticipant } from "./participant.ts"
import { dropFirst, itemAt, sizeOf, toArray } from "./sequence.ts"
import type { PowerState, Seal } from "./state.ts"

/** The highest entry that is held of an issuer, folded or pending. */
export interface Known {
  readonly issuer: Participant
  readonly ordinal: number
}

/** Where a history stands. */
export interface Mark {
  /** The last folded id. */
  readonly id: EventId | null
  readonly count: number
  readonly digest: Digest
}

/** What a replica tells of itself, so that others may send it diffs. */
export interface Report {
  readonly origin: Origin
  readonly infimum: Mark
  /** Of each issuer of whom anything is held. */
  readonly known: ReadonlyArray<Known>
}

type AnyState = PowerState<unknown, unknown, unknown>

/** What is new to the one who reported. */
export interface Diff<E> {
  readonly origin: Origin
  readonly isProvisional: boolean
  /** The higher one of both sides. */
  readonly infimum: Mark
  /** What the sender holds. */
  readonly known: ReadonlyArray<Known>
  /** Ascending. */
  readonly entries: ReadonlyArray<Entry<E>>
  /** How many entries the sender has above that infimum, and a hash of their ids. */
  readonly pending: { readonly count: number; readonly digest: Digest }
  /** Positions are counted from the birth of the object, as everywhere. */
  readonly acknowledgements: Acknowledgements
  /** Every ejection that the sender knows to be decided, folded or not. */
  readonly decided: ReadonlyArray<Seal>
}

/** A hash of the ids of entries, in their order. */
export const digestOfIds = (entries: ReadonlyArray<EventId>): Digest => {
  const hasher = newHasher()
  for (const entry of entries) mixEventId(hasher, entry)
  return digestOf(hasher)
}

/** The ordinal of an issuer in a list, 0 if he is not in it. */
export const knownOf = (known: ReadonlyArray<Known>, issuer: Participant): number =>
  known.find((each) => sameParticipant(each.issuer, issuer))?.ordinal ?? 0

const allKnown = (state: AnyState): ReadonlyArray<Known> => {
  const { departed, members } = state.infimum
  const known = [
    ...members.map(({ folded, participant }) => ({ issuer: participant, ordinal: folded })),
    ...departed.map(({ mark, participant }) => ({ issuer: participant, ordinal: mark }))
  ]
  for (const { issuer, ordinal } of toArray(state.entries)) {
    const place = known.findIndex((each) => sameParticipant(each.issuer, issuer))
    if (place < 0) known.push({ issuer, ordinal })
    else known[place] = { issuer, ordinal: Math.max(ordinal, known[place]?.ordinal ?? 0) }
  }
  return known.filter(({ ordinal }) => ordinal > 0)
}

const markOfInfimum = ({ infimum }: AnyState): Mark => ({
  id: infimum.id,
  count: infimum.count,
  digest: infimum.digest
})

/** What this replica holds. O(pending); its size is that of the list of issuers. */
export const report = (state: AnyState): Report => ({
  origin: state.origin,
  infimum: markOfInfimum(state),
  known: allKnown(state)
})

/** Whether the receiver holds all that was folded here since its infimum. */
const holdsFolded = ({ infimum }: AnyState, known: ReadonlyArray<Known>): boolean => {
  const isHeld = (issuer: Participant, ordinal: number) => ordinal <= knownOf(known, issuer)
  return (
    infimum.members.every(({ folded, participant }) => isHeld(participant, folded)) &&
    infimum.departed.every(({ mark, participant }) => isHeld(participant, mark))
  )
}

/**
 * How many of the pending entries the receiver has folded, if these are exactly what it folded
 * since the infimum here; null if not. O(those).
 */
const foldedThere = (state: AnyState, { count, digest, id }: Mark): number | null => {
  const ahead = count - state.infimum.count
  if (ahead <= 0) return 0
  if (id === null || ahead > sizeOf(state.entries)) return null
  if (compareEventIds(itemAt(state.entries, ahead - 1), id) !== 0) return null
  const hasher = hasherFrom(state.infimum.digest)
  for (let index = 0; index < ahead; index += 1) mixEventId(hasher, itemAt(state.entries, index))
  return sameDigest(digestOf(hasher), digest) ? ahead : null
}

const decidedOf = ({ infimum, seals }: AnyState): ReadonlyArray<Seal> => [
  ...seals,
  ...infimum.departed
    .filter((each) => each.reason === "ejected")
    .map(({ mark, participant }) => ({ participant, mark }))
]

/**
 * What the one who reported lacks of this state: its size goes by what is new to him, and the
 * number of participants. Refused where only a full state will do. O(pending).
 */
export const diff = <E, O, S>(
  state: PowerState<E, O, S>,
  receiver: Report
): Result.Result<Diff<E>, FullStateNeeded> => {
  const needs = (reason: FullStateNeeded["reason"]) => Result.fail(new FullStateNeeded({ reason }))
  if (!sameOrigin(state.origin, receiver.origin)) return needs("origin")
  if (!holdsFolded(state, receiver.known)) return needs("folded")
  const start = foldedThere(state, receiver.infimum)
  if (start === null) return needs("behind")
  const infimum = start > 0 ? receiver.infimum : markOfInfimum(state)
  const entries = toArray(dropFirst(state.entries, start))
  return Result.succeed({
    origin: state.origin,
    isProvisional: state.isProvisional,
    infimum,
    known: allKnown(state),
    entries: entries.filter(({ issuer, ordinal }) => ordinal > knownOf(receiver.known, issuer)),
    pending: { count: entries.length, digest: digestOfIds(entries) },
    acknowledgements: settle(state.acknowledgements, infimum.count),
    decided: decidedOf(state)
  })
}
