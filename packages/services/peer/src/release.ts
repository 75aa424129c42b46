/**
 * Lets go of partitions that this peer no longer owns.
 *
 *     not owned ──▶ owners let in ──▶ all of them hold all of it ──▶ Leave ──▶ acknowledged by all
 *                                                                                └─▶ deleted here
 *
 * 1. A peer leaves a partition only when every owner takes part and has acknowledged all of it: the
 *    number of complete copies never falls below what it was.
 * 2. It acts by what all members agree on, and stays while it owns the key by that or by what it
 *    has only heard of.
 * 3. After its Leave it writes nothing, and keeps its last state until the others have it.
 */
import { KeySet, PartitionKey } from "@holdfast/keyspace"
import { sameParticipant } from "@holdfast/power-state"
import type { PartitionStore, PartitionStoreError } from "@holdfast/storage"
import { Effect, Result } from "effect"
import type { Address } from "./address.ts"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { isCluster } from "./cluster-partition.ts"
import type { JobBody } from "./job.ts"
import { refusalOf } from "./refusals.ts"
import type { Replica } from "./replica.ts"
import { withOwners } from "./replication-steps.ts"
import { forEachPage } from "./stored-pages.ts"

/** `gone`: nothing of it is here any more; `left`: only its last state is; `held`: it is not left. */
type Released = "gone" | "left" | "held"

const isSettled = (replica: Replica, owners: ReturnType<Replica["participants"]>): boolean => {
  const participants = replica.participants()
  const behind = replica.divergent().map(({ participant }) => participant)
  return (
    owners.length > 0 &&
    owners.every(
      (owner) =>
        participants.some((one) => sameParticipant(one, owner)) &&
        !behind.some((one) => sameParticipant(one, owner))
    )
  )
}

/** The step that brings a partition nearer to its end at this peer. */
const releaseStep =
  ({ ownership }: AntiEntropyContext, address: Address): JobBody<Released> =>
  (local, resident) => {
    if (local === null) return Result.succeed({ replica: null, value: "gone" })
    const { self } = ownership
    const isSelf = (one: typeof self): boolean => sameParticipant(one, self)
    if (!ownership.isReleased(address)) return Result.succeed({ replica: local, value: "held" })
    if (!local.everybody().some(isSelf)) return Result.succeed({ replica: null, value: "gone" })
    if (!local.participants().some(isSelf)) {
      return Result.succeed({ replica: local, value: "left", isSaved: true })
    }
    const replica = withOwners(local, address, ownership)
    if (replica !== local) resident.isWriter = true
    if (!isSettled(replica, ownership.holdersOf(address))) {
      return Result.succeed({ replica, value: "held" })
    }
    const left = replica.leave(self)
    if (Result.isFailure(left)) return Result.fail(refusalOf(left.failure))
    resident.isWriter = true
    return Result.succeed({ replica: left.success, value: "left" })
  }

/** Brings a partition nearer to its end here; whether this peer has left it. */
const release = Effect.fnUntraced(function* (context: AntiEntropyContext, address: Address) {
  const { engine, offer, ownership, warn } = context
  const result = yield* Effect.result(engine.submit(address, releaseStep(context, address)))
  if (Result.isFailure(result)) {
    yield* warn("a partition cannot be let go of yet", { ...address, why: result.failure })
    return false
  }
  if (result.success === "gone") return true
  const saved = engine.table.find(address)?.saved
  for (const participant of saved?.everybody() ?? []) {
    if (!sameParticipant(participant, ownership.self)) offer(participant.peer, address)
  }
  return result.success === "left"
})

/** Goes once over what is here and not owned; how many partitions this peer has not left yet. */
export const releaseUnowned = Effect.fnUntraced(function* (
  context: AntiEntropyContext
): Effect.fn.Return<number, PartitionStoreError, PartitionStore> {
  const { membership, view } = context
  const ranges = KeySet.difference(KeySet.full, membership.keysHeldBy(view.self.peer))
  let held = 0
  if (KeySet.isEmpty(ranges)) return held
  for (const application of context.applications.keys()) {
    if (isCluster(application)) continue
    yield* forEachPage({ application, ranges }, (page) =>
      Effect.gen(function* () {
        const left = yield* Effect.forEach(
          page,
          ({ key }) => release(context, { application, key: PartitionKey.make(key) }),
          { concurrency: "unbounded" }
        )
        held += left.filter((isLeft) => !isLeft).length
      })
    )
  }
  return held
})
