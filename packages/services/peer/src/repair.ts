/**
 * Fetches damaged partitions again from their replicas.
 *
 * 1. A partition is mended only when every other owner has answered: what this peer once sent may
 *    be with any one of them, and must be in what it goes on from.
 * 2. Until then nothing is written to it here; requests go to the other owners.
 */
import type { PeerId } from "@holdfast/keyspace"
import {
  decodeParts,
  makeCaller,
  makeRequestId,
  PeerReplicationOperations,
  ServiceError
} from "@holdfast/wire"
import { Effect, Option, Result } from "effect"
import type { Address } from "./address.ts"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { refusalOf } from "./refusals.ts"
import type { Replica } from "./replica.ts"
import { withOwners } from "./replication-steps.ts"

const callFetch = makeCaller(PeerReplicationOperations.fetch)

/** What one owner holds of a partition; null if nothing. */
const fetchFrom = Effect.fnUntraced(function* (
  context: AntiEntropyContext,
  peer: PeerId,
  { application, key }: Address
) {
  const { settings, view } = context
  const { attachment, response } = yield* callFetch({
    cluster: settings.cluster,
    instance: peer,
    deadline: settings.times.replicationMillis,
    requestId: yield* makeRequestId,
    sender: view.self.peer,
    request: { sender: view.self, application, keys: [key] }
  })
  if (response.found.length === 0) return null
  const [state] = Option.getOrElse(decodeParts(attachment), () => [])
  const replica = context.applications.get(application)?.decode(state ?? new Uint8Array())
  return replica === undefined || Result.isFailure(replica)
    ? yield* new ServiceError({ code: "undecodable", message: `${peer} sent what cannot be read` })
    : replica.success
})

const mergeAll = (replicas: ReadonlyArray<Replica>): Result.Result<Replica, ServiceError> => {
  const [first, ...others] = replicas
  if (first === undefined) {
    const message = "no other owner holds the damaged partition"
    return Result.fail(new ServiceError({ code: "damaged", message }))
  }
  let merged: Result.Result<Replica, ServiceError> = Result.succeed(first)
  for (const other of others) {
    merged = Result.flatMap(merged, (replica) => Result.mapError(replica.merge(other), refusalOf))
  }
  return merged
}

/** Mends one partition; fails while an owner does not answer. */
const mend = Effect.fnUntraced(function* (context: AntiEntropyContext, address: Address) {
  const { engine, ownership, view } = context
  const owners = ownership.holdersOf(address).map(({ peer }) => peer)
  const others = owners.filter((peer) => peer !== view.self.peer)
  const answers = yield* Effect.forEach(others, (peer) => fetchFrom(context, peer, address), {
    concurrency: "unbounded"
  })
  const merged = mergeAll(answers.filter((replica) => replica !== null))
  if (Result.isFailure(merged)) return yield* merged.failure
  yield* engine.repair(address, (local) =>
    // Whole by now: what this peer has made of it since must not be taken back.
    local !== null
      ? Result.succeed({ replica: local, value: undefined })
      : Result.succeed({
          replica: withOwners(merged.success, address, context.ownership),
          value: undefined,
          isSaved: true
        })
  )
})

/** Tries to mend everything that is damaged; what cannot be mended now is tried again later. */
export const mendDamaged = (context: AntiEntropyContext) =>
  Effect.suspend(() =>
    Effect.forEach(
      // Those that are damaged now, each time that this runs.
      [...context.inventory.damaged.values()],
      (address) =>
        Effect.catch(mend(context, address), (error) =>
          context.warn("a damaged partition cannot be mended yet", { ...address, why: error })
        ),
      { concurrency: 8, discard: true }
    )
  )
