/**
 * The state of one replica of an object.
 *
 *        infimum                    pending entries, ascending by id
 *   [ value, members,  ]   e8   e9   join   e11   e12 ...
 *   [ digest, requests ]   ^ position = infimum.count
 *
 * 1. Pending ids ascend strictly, and all are above the id of the infimum.
 * 2. The infimum only moves up. Its digest runs over the ids folded since birth, so two replicas
 *    with the same infimum id and digest folded the same entries in the same order.
 * 3. An ordinal up to a member's `folded` was folded; nothing else of that issuer was.
 * 4. Of an ejected participant exactly the entries up to his mark count, wherever they stand: those
 *    up to the infimum are folded, those above it are pending. Marks never differ.
 * 5. `projection` is the fold of all pending entries over the infimum's value.
 * 6. Nothing is folded while a birth is provisional, so a state whose birth turns out not to be the
 *    one that counts has only pending entries.
 * 7. A state never changes; every function returns a new one, or the same if nothing is new.
 */
import type { Acknowledgements } from "./acknowledgement.ts"
import type { Digest } from "./digest.ts"
import type { Entry, MembershipEntry } from "./entry.ts"
import type { EventId } from "./event-id.ts"
import type { Origin } from "./origin.ts"
import type { Participant } from "./participant.ts"
import type { RequestLog } from "./request-log.ts"
import type { Sequence } from "./sequence.ts"

/** A participant of the infimum, with the ordinal of its last folded entry (0 for none). */
export interface Member {
  readonly participant: Participant
  readonly folded: number
}

/** The outcome of an ejection: up to `mark`, an ordinal, the entries of the ejected count. */
export interface Seal {
  readonly participant: Participant
  readonly mark: number
}

/** One who took part once: up to `mark`, an ordinal, his entries count. */
export interface Departed extends Seal {
  /** One who left may be let in again; one who was ejected never is. */
  readonly reason: "left" | "ejected"
}

/**
 * Who decides that a participant is ejected: `majority` needs more than half of the infimum's
 * participants in good standing; `cluster` needs one, as the agreed state of a cluster decided.
 */
export type Authority = "majority" | "cluster"

/** What every participant has acknowledged, folded into a value. */
export interface Infimum<S> {
  /** The last folded id; null at birth. */
  readonly id: EventId | null
  /** How many entries were folded since birth. */
  readonly count: number
  readonly value: S
  /** Sorted by participant. */
  readonly members: ReadonlyArray<Member>
  /** Sorted by participant. */
  readonly departed: ReadonlyArray<Departed>
  /** Of the birth and of each folded id. */
  readonly digest: Digest
}

/** Stands where an entry has no output: at joins, leaves and ejections. */
export const NO_OUTPUT: unique symbol = Symbol("NO_OUTPUT")

/** What folding the pending entries gives. */
export interface Projection<O, S> {
  readonly value: S
  /** One for each pending entry. */
  readonly outputs: Sequence<O | typeof NO_OUTPUT>
  readonly requests: RequestLog<O>
}

/** One replica of an object. Read it through the functions of this package. */
export interface PowerState<E, O, S> {
  readonly origin: Origin
  /** How many requests are remembered; the same on all replicas. */
  readonly requestWindow: number
  /** The same on all replicas. */
  readonly authority: Authority
  /** Whether the object may have been born elsewhere too: nothing is folded until that is known. */
  readonly isProvisional: boolean
  readonly infimum: Infimum<S>
  readonly entries: Sequence<Entry<E>>
  /** The joins, leaves and ejections among `entries`, in order. */
  readonly membership: ReadonlyArray<MembershipEntry>
  /** Ejections that are decided and not folded yet, sorted by participant. */
  readonly seals: ReadonlyArray<Seal>
  readonly acknowledgements: Acknowledgements
  readonly projection: Projection<O, S>
}

/** The output of an entry whose place in the order is fixed: the same on every replica. */
export interface ConsistentOutput<O> {
  readonly id: EventId
  readonly request: string | null
  readonly output: O
}
