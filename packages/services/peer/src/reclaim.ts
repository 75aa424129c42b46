/**
 * Takes over what only the store of an ejected life holds.
 *
 *     its partition ──▶ any peer ──▶ an owner: what of it does not count by what all decided
 *                                      └─▶ submitted again, each request under its own id
 *
 * 1. What counts is what the ejection decided: entries up to the mark are in the partition here,
 *    all others of that life are not. So nothing is applied twice, however long ago it was folded.
 * 2. A partition of another birth never folded there, or was not the one that counts: all of its
 *    requests are pending, and repeats among them are recognised by their ids.
 * 3. It is answered when a majority holds what was submitted.
 */
import type { Life } from "@holdfast/cluster"
import { PartitionKey } from "@holdfast/keyspace"
import type { Messaging } from "@holdfast/messaging"
import type { EventId } from "@holdfast/power-state"
import {
  type Answer,
  makeCaller,
  PeerMembershipOperations,
  type RequestContext,
  ServiceError
} from "@holdfast/wire"
import { Effect, Result } from "effect"
import type { Address } from "./address.ts"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import type { JobBody, Step } from "./job.ts"
import { monotonicMillis } from "./monotonic.ts"
import { noSuchApplication, refusalOf } from "./refusals.ts"
import type { PendingRequest, Replica } from "./replica.ts"
import { type Ownership, withOwners } from "./replication-steps.ts"
import { submitAgain } from "./submit-again.ts"
import { awaitConcern } from "./write-concern.ts"

/** A partition as the store of an ejected life has it. */
export interface Reclaimed {
  readonly address: Address
  readonly life: Life
  readonly incoming: Replica
}

interface Submitted {
  readonly submitted: number
  /** The last entry that was made of it; null if there is none. */
  readonly id: EventId | null
  readonly participants: number
}

const RETRY_MILLIS = 500

const passing = (code: string, message: string): ServiceError =>
  new ServiceError({ code, message, retryAfterMs: RETRY_MILLIS })

const historyUnknown = ({ application, key }: Address): ServiceError =>
  new ServiceError({
    code: "history-unknown",
    message:
      `no owner of ${application}/${key} holds what was folded there: ` +
      "read it from the store of the ejected peer and write it anew"
  })

/** The requests of the ejected life that do not count in the partition as it is here. */
const lostRequests = (
  known: Replica,
  { address, incoming, life }: Reclaimed,
  ownership: Ownership
): Result.Result<ReadonlyArray<PendingRequest>, ServiceError> => {
  if (known.isEjected(life) && !known.isDecided(life)) {
    const message = `it is not decided yet what of ${life.peer} counts in ${address.key}`
    return Result.fail(passing("ejection-undecided", message))
  }
  const heard = incoming.hear({ from: ownership.self, to: life, state: known })
  if (Result.isSuccess(heard)) return Result.succeed(heard.success.dropped)
  if (heard.failure._tag !== "DifferentOrigins") return Result.fail(refusalOf(heard.failure))
  return incoming.hasFolded()
    ? Result.fail(historyUnknown(address))
    : Result.succeed(incoming.pendingRequests())
}

/** The step that submits again what does not count. */
export const reclaimStep =
  (
    reclaimed: Reclaimed,
    ownership: Ownership,
    limits: { readonly pendingMax: number }
  ): JobBody<Submitted> =>
  (local, resident) => {
    const { address, incoming } = reclaimed
    const found = local ?? ownership.birthOf(address)
    if (found === null) {
      return Result.fail(passing("not-an-owner", `${address.key} is not owned by this peer`))
    }
    if (local === null && incoming.hasFolded()) return Result.fail(historyUnknown(address))
    const known = withOwners(found, address, ownership)
    const lost = lostRequests(known, reclaimed, ownership)
    if (Result.isFailure(lost)) return Result.fail(lost.failure)
    const { pendingMax } = limits
    const again = submitAgain(known, lost.success, { issuer: ownership.self, pendingMax })
    return Result.map(again, ({ count, last, replica: submitted }): Step<Submitted> => {
      const owned = withOwners(submitted, address, ownership)
      const value = { submitted: count, id: last, participants: owned.participants().length }
      // A partition that nobody wrote to is not created.
      const replica = local === null && last === null ? null : owned
      if (replica !== local) resident.isWriter = true
      return { replica, value }
    })
  }

const callReclaim = makeCaller(PeerMembershipOperations.reclaim)

type Request = typeof PeerMembershipOperations.reclaim.request.Type
type Response = typeof PeerMembershipOperations.reclaim.response.Type

interface ReclaimContext extends RequestContext {
  /** Monotonic milliseconds. */
  readonly deadlineAt: number
}

const reclaimHere = Effect.fnUntraced(function* (
  context: AntiEntropyContext,
  reclaimed: Reclaimed,
  deadlineAt: number
): Effect.fn.Return<Response, ServiceError> {
  const { engine, membership, ownership, settings } = context
  const step = reclaimStep(reclaimed, ownership, settings.limits)
  const { id, participants, submitted } = yield* engine.submit(reclaimed.address, step)
  yield* awaitConcern(engine.table, reclaimed.address, {
    id,
    participants: Math.max(participants, membership.copiesWanted),
    concern: "majority",
    expiresAt: deadlineAt
  })
  return { submitted }
})

/** Answers `reclaim`. */
export const handleReclaim =
  (context: AntiEntropyContext) =>
  (
    request: Request,
    { attachment, deadlineAt, requestId }: ReclaimContext
  ): Effect.Effect<Answer<Response>, ServiceError, Messaging> =>
    Effect.gen(function* () {
      const { applications, membership, settings, view } = context
      const { application, isPassedOn = false, life } = request
      const key = PartitionKey.make(request.key)
      if (membership.endOf(life) !== "ejected") {
        // Others may have agreed on it already.
        const message = `it is not agreed on that ${life.peer}.${life.incarnation} is ejected`
        return yield* passing("not-ejected", message)
      }
      const owners = membership.foundersOf(key).map(({ peer }) => peer)
      if (owners.includes(view.self.peer)) {
        const incoming = applications.get(application)?.decode(attachment)
        if (incoming === undefined) return yield* noSuchApplication(application)
        if (Result.isFailure(incoming)) return yield* refusalOf(incoming.failure)
        const reclaimed = { address: { application, key }, life, incoming: incoming.success }
        return { response: yield* reclaimHere(context, reclaimed, deadlineAt) }
      }
      const [owner] = owners.filter((peer) => view.isLive(peer))
      if (isPassedOn || owner === undefined) {
        return yield* passing("not-an-owner", `no owner of ${key} is known to be there`)
      }
      const { response } = yield* callReclaim({
        cluster: settings.cluster,
        instance: owner,
        request: { ...request, isPassedOn: true },
        attachment,
        deadline: Math.max(1, deadlineAt - (yield* monotonicMillis)),
        requestId
      }).pipe(
        Effect.mapError((error) =>
          error instanceof ServiceError ? error : passing("timeout", `${owner}: ${error.message}`)
        )
      )
      return { response }
    })
