/**
 * The steps that replication takes on a partition: what a peer makes of what another tells it.
 */
import type { Participant } from "@holdfast/power-state"
import { includesParticipant } from "@holdfast/power-state"
import { ServiceError } from "@holdfast/wire"
import { Result } from "effect"
import type { Address } from "./address.ts"
import type { JobBody, Step } from "./job.ts"
import { endedSender } from "./peer-view.ts"
import { fullStateNeeded, type MembershipRefusal, refusalOf } from "./refusals.ts"
import type { PendingRequest, Replica } from "./replica.ts"
import { submitAgain } from "./submit-again.ts"
import { uniteBirths } from "./unite-births.ts"

/** What a step needs to know of the cluster. */
export interface Ownership {
  readonly self: Participant
  /** Those to let in: who owns a partition, or is to, by all that this peer has heard. */
  readonly holdersOf: (address: Address) => ReadonlyArray<Participant>
  /** Whether the cluster has agreed that a participant is put out. */
  readonly isEjected: (participant: Participant) => boolean
  /** Whether this peer may let go of a partition: nothing that it knows makes it an owner. */
  readonly isReleased: (address: Address) => boolean
  /** The partition as it is born, if this peer owns it. */
  readonly birthOf: (address: Address) => Replica | null
  /** Whether a birth under this epoch, as this peer holds it, is the one that counts. */
  readonly isFirstBirth: (address: Address, epoch: number) => boolean
}

const notAnOwner = (address: Address): ServiceError =>
  new ServiceError({
    code: "not-an-owner",
    message: `this peer neither owns nor takes part in ${address.application}/${address.key}`
  })

/** Acknowledges as this peer, if it takes part. */
const acknowledged = (replica: Replica, self: Participant): Replica => {
  const result = includesParticipant(replica.participants(), self)
    ? replica.acknowledge(self)
    : null
  return result !== null && Result.isSuccess(result) ? result.success : replica
}

const attempted = (
  replica: Replica,
  participants: ReadonlyArray<Participant>,
  change: (replica: Replica, participant: Participant) => Result.Result<Replica, MembershipRefusal>
): Replica =>
  participants.reduce(
    (before, participant) => Result.getOrElse(change(before, participant), () => before),
    replica
  )

/** Confirms a birth that is known here to be the one that counts. */
const confirmed = (replica: Replica, address: Address, ownership: Ownership): Replica =>
  replica.isProvisional() && ownership.isFirstBirth(address, replica.birthEpoch())
    ? replica.confirm(ownership.self)
    : replica

/**
 * Confirms the birth where that is due, puts out who was ejected from the cluster, lets owners in
 * that do not take part, and acknowledges. Whoever else takes part goes only by its own Leave. What
 * cannot be done yet is done later: an owner whose Leave is not folded is let in when it is.
 */
export const withOwners = (found: Replica, address: Address, ownership: Ownership): Replica => {
  const { holdersOf, isEjected, self } = ownership
  const replica = confirmed(found, address, ownership)
  const participants = replica.participants()
  if (!includesParticipant(participants, self)) return acknowledged(replica, self)
  const ejected = attempted(replica, participants.filter(isEjected), (before, participant) =>
    before.eject({ issuer: self, participant })
  )
  const missing = holdersOf(address).filter((owner) => !includesParticipant(participants, owner))
  const joined = attempted(ejected, missing, (before, participant) =>
    before.participate({ issuer: self, participant })
  )
  return acknowledged(joined, self)
}

/** Lets owners in before the partition is handed to one of them, and answers what is saved. */
export const letOwnersIn =
  (address: Address, ownership: Ownership): JobBody<Replica | null> =>
  (local, resident) => {
    if (local === null) return Result.succeed({ replica: local, value: local })
    const replica = withOwners(local, address, ownership)
    if (replica !== local) resident.isWriter = true
    return Result.succeed({ replica, value: replica, isSaved: true })
  }

/** What a receiver hears, and from whom. */
interface Incoming {
  readonly address: Address
  readonly incoming: Replica
  readonly sender: Participant
  readonly ownership: Ownership
}

/** With the requests that cannot count as they stand; each counts once. */
const resubmitted = (
  replica: Replica,
  requests: ReadonlyArray<PendingRequest>,
  self: Participant
): Result.Result<Replica, ServiceError> =>
  Result.map(submitAgain(replica, requests, { issuer: self }), (submitted) => submitted.replica)

/** What a receiver makes of a state; `local` is null when it has none of that partition. */
const mergeIncoming = (
  local: Replica | null,
  { address, incoming, ownership, sender }: Incoming
): Result.Result<Replica | null, ServiceError> => {
  const { self } = ownership
  // Looked at here once more: what all agree on may have changed since the message was taken.
  if (ownership.isEjected(sender)) return Result.fail(endedSender(sender, "ejected"))
  const base = local ?? ownership.birthOf(address)
  const takesPart = includesParticipant(incoming.participants(), self)
  if (base === null) {
    return takesPart ? Result.succeed(incoming) : Result.fail(notAnOwner(address))
  }
  const heard = base.hear({ from: sender, to: self, state: incoming })
  if (Result.isSuccess(heard)) {
    const { dropped, replica } = heard.success
    // One who is put out keeps what he has: what counts no more is submitted by his next life.
    return replica.isEjected(self)
      ? Result.fail(putOut(address))
      : resubmitted(replica, dropped, self)
  }
  if (local === null && takesPart) return Result.succeed(incoming)
  switch (heard.failure._tag) {
    case "DifferentOrigins":
      return uniteBirths({
        local: base,
        incoming,
        self,
        isReleased: ownership.isReleased(address)
      })
    case "DifferentLineage":
      return goOver(base, incoming, { address, self })
    case "ConflictingEvent":
    case "InfimumDigestMismatch":
    case "SenderRefused":
      return Result.fail(refusalOf(heard.failure))
  }
}

/** Follows the lineage that an operator forced, with the requests that only this replica held. */
const goOver = (
  local: Replica,
  incoming: Replica,
  { address, self }: { readonly address: Address; readonly self: Participant }
): Result.Result<Replica, ServiceError> => {
  const adopted = local.adopt(incoming)
  if (Result.isFailure(adopted)) return Result.fail(refusalOf(adopted.failure))
  const { dropped, replica } = adopted.success
  return includesParticipant(replica.participants(), self)
    ? resubmitted(replica, dropped, self)
    : Result.fail(putOut(address))
}

const putOut = ({ application, key }: Address): ServiceError =>
  new ServiceError({
    code: "ejected",
    message: `this peer was put out of ${application}/${key}`
  })

/** A partition as a peer sends it: all of it, or what is new to the receiver, of this digest. */
export type Sent =
  | { readonly _tag: "State"; readonly replica: Replica }
  | { readonly _tag: "Diff"; readonly bytes: Uint8Array; readonly digest: string }

/** The answer to one state of another peer. */
export interface Heard {
  /** The sender holds the same, once he has noted the acknowledgement of what he sent. */
  readonly isSame: boolean
  readonly replica: Replica
  /** What the sender holds. */
  readonly incoming: Replica
}

/** The state that was sent. */
const readSent = (local: Replica | null, sent: Sent): Result.Result<Replica, ServiceError> => {
  if (sent._tag === "State") return Result.succeed(sent.replica)
  return local === null
    ? Result.fail(fullStateNeeded("nothing of the partition is here"))
    : Result.mapError(local.receive(sent.bytes), ({ message }) => fullStateNeeded(message))
}

const digestOfSent = (sent: Sent): string =>
  sent._tag === "State" ? sent.replica.digest() : sent.digest

/** Merges what another peer sent, acknowledges, and says whether he learns anything from it. */
export const hearState =
  (options: {
    readonly address: Address
    readonly sent: Sent
    readonly sender: Participant
    /** The sender's present start. */
    readonly boot: number
    readonly ownership: Ownership
    /** Whether the sender is told what came of it. */
    readonly isAnswered: boolean
  }): JobBody<Heard> =>
  (local, resident) => {
    const { address, boot, isAnswered, ownership, sender, sent } = options
    return Result.flatMap(readSent(local, sent), (incoming) =>
      Result.map(
        mergeIncoming(local, { address, incoming, ownership, sender }),
        (merged): Step<Heard> => {
          if (merged === null) {
            return { replica: null, value: { isSame: false, replica: incoming, incoming } }
          }
          const replica = withOwners(merged, address, ownership)
          // With no entry that is new to acknowledge, nothing is promised that was not saved.
          const isNews = replica !== merged || local === null
          // Where more is folded here, a diff gives his state with that folded, too.
          const isExact = incoming.digest() === digestOfSent(sent)
          const isSame =
            isExact && acknowledged(incoming, ownership.self).digest() === replica.digest()
          resident.told.set(sender.peer, isAnswered ? replica.digest() : digestOfSent(sent))
          if (isExact) resident.known.set(sender.peer, { report: incoming.report(), boot })
          return {
            replica,
            value: { isSame, replica, incoming },
            isSaved: isNews || !isSame
          }
        }
      )
    )
  }

/**
 * Notes that a peer durably holds just what was sent to it. Saved with the next change, unless it
 * is of the cluster, where others wait for it.
 */
export const noteHeld =
  (options: {
    readonly sent: Replica
    readonly holder: Participant
    /** The holder's present start. */
    readonly boot: number
    readonly self: Participant
    readonly isSaved: boolean
  }): JobBody<void> =>
  (local, resident) => {
    const { boot, holder, isSaved, self, sent } = options
    const held = sent.acknowledge(holder)
    if (local === null || Result.isFailure(held)) {
      return Result.succeed({ replica: local, value: undefined })
    }
    resident.told.set(holder.peer, held.success.digest())
    resident.known.set(holder.peer, { report: held.success.report(), boot })
    if (local === sent) {
      return Result.succeed({ replica: held.success, value: undefined, isSaved })
    }
    const heard = local.hear({ from: holder, to: self, state: held.success })
    return Result.isFailure(heard)
      ? Result.fail(refusalOf(heard.failure))
      : Result.succeed({ replica: heard.success.replica, value: undefined, isSaved })
  }
