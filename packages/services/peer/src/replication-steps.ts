/**
 * The steps that replication takes on a partition: what a peer makes of what another tells it.
 */
import type { Participant } from "@holdfast/power-state"
import { sameParticipant } from "@holdfast/power-state"
import { ServiceError } from "@holdfast/wire"
import { Result } from "effect"
import type { Address } from "./address.ts"
import type { JobBody, Step } from "./job.ts"
import { refusalOf } from "./refusals.ts"
import type { Replica } from "./replica.ts"
import { uniteBirths } from "./unite-births.ts"

/** What a step needs to know of the cluster. */
export interface Ownership {
  readonly self: Participant
  /** Those to let in: who owns a partition, or is to, by all that this peer has heard. */
  readonly holdersOf: (address: Address) => ReadonlyArray<Participant>
  /** Whether this peer may let go of a partition: nothing that it knows makes it an owner. */
  readonly isReleased: (address: Address) => boolean
  /** The partition as it is born, if this peer owns it. */
  readonly birthOf: (address: Address) => Replica | null
}

const notAnOwner = (address: Address): ServiceError =>
  new ServiceError({
    code: "not-an-owner",
    message: `this peer neither owns nor takes part in ${address.application}/${address.key}`
  })

const includes = (participants: ReadonlyArray<Participant>, one: Participant): boolean =>
  participants.some((each) => sameParticipant(each, one))

/** Acknowledges as this peer, if it takes part. */
const acknowledged = (replica: Replica, self: Participant): Replica => {
  const result = includes(replica.participants(), self) ? replica.acknowledge(self) : null
  return result !== null && Result.isSuccess(result) ? result.success : replica
}

/**
 * Lets owners in that do not take part, and acknowledges. Nobody is put out here: a replica goes
 * only by its own Leave.
 */
export const withOwners = (replica: Replica, address: Address, ownership: Ownership): Replica => {
  const { self } = ownership
  const participants = replica.participants()
  const missing = includes(participants, self)
    ? ownership.holdersOf(address).filter((owner) => !includes(participants, owner))
    : []
  let next = replica
  for (const participant of missing) {
    const joined = next.participate({ issuer: self, participant })
    if (Result.isSuccess(joined)) next = joined.success
  }
  return acknowledged(next, self)
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

/** What a receiver makes of a state; `local` is null when it has none of that partition. */
const mergeIncoming = (
  local: Replica | null,
  incoming: Replica,
  address: Address,
  ownership: Ownership
): Result.Result<Replica | null, ServiceError> => {
  const base = local ?? ownership.birthOf(address)
  const takesPart = includes(incoming.participants(), ownership.self)
  if (base === null) {
    return takesPart ? Result.succeed(incoming) : Result.fail(notAnOwner(address))
  }
  const merged = base.merge(incoming)
  if (Result.isSuccess(merged)) return Result.succeed(merged.success.replica)
  if (local === null && takesPart) return Result.succeed(incoming)
  return merged.failure._tag === "DifferentOrigins"
    ? uniteBirths({
        local: base,
        incoming,
        self: ownership.self,
        isReleased: ownership.isReleased(address)
      })
    : Result.fail(refusalOf(merged.failure))
}

/** The answer to one state of another peer. */
export interface Heard {
  /** The sender holds the same, once he has noted the acknowledgement of what he sent. */
  readonly isSame: boolean
  readonly replica: Replica
}

/** Merges what another peer sent, acknowledges, and says whether he learns anything from it. */
export const hearState =
  (options: {
    readonly address: Address
    readonly incoming: Replica
    readonly sender: string
    readonly ownership: Ownership
    /** Whether the sender is told what came of it. */
    readonly isAnswered: boolean
  }): JobBody<Heard> =>
  (local, resident) => {
    const { address, incoming, isAnswered, ownership, sender } = options
    return Result.map(mergeIncoming(local, incoming, address, ownership), (merged): Step<Heard> => {
      if (merged === null) {
        return { replica: null, value: { isSame: false, replica: incoming } }
      }
      const replica = withOwners(merged, address, ownership)
      // With no entry that is new to acknowledge, nothing is promised that was not saved before.
      const isNews = replica !== merged || local === null
      const isSame = acknowledged(incoming, ownership.self).digest() === replica.digest()
      resident.told.set(sender, (isAnswered ? replica : incoming).digest())
      const value = { isSame, replica }
      return { replica, value, isSaved: isNews || !isSame }
    })
  }

/** Notes that a peer durably holds just what was sent to it. Saved with the next change. */
export const noteHeld =
  (options: { readonly sent: Replica; readonly holder: Participant }): JobBody<void> =>
  (local, resident) => {
    const { holder, sent } = options
    const held = sent.acknowledge(holder)
    if (local === null || Result.isFailure(held)) {
      return Result.succeed({ replica: local, value: undefined })
    }
    resident.told.set(holder.peer, held.success.digest())
    if (local === sent) {
      return Result.succeed({ replica: held.success, value: undefined, isSaved: false })
    }
    const merged = local.merge(held.success)
    return Result.isFailure(merged)
      ? Result.fail(refusalOf(merged.failure))
      : Result.succeed({ replica: merged.success.replica, value: undefined, isSaved: false })
  }
