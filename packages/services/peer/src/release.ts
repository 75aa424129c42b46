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
 * 4. An owner who left the partition once, and owns the key again, is let in when his Leave is
 *    folded, and nothing is while the birth is provisional. So what this peer holds waits for the
 *    sweep then, and the sweep does not wait for it: he who has left it knows the birth.
 */
import { KeySet, PartitionKey } from "@holdfast/keyspace"
import { type Participant, includesParticipant, sameParticipant } from "@holdfast/power-state"
import type { PartitionStore, PartitionStoreError } from "@holdfast/storage"
import { Effect, Result } from "effect"
import type { Address } from "./address.ts"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { isCluster } from "./cluster-partition.ts"
import type { JobBody } from "./job.ts"
import { refusalOf } from "./refusals.ts"
import type { Replica } from "./replica.ts"
import { type Ownership, withOwners } from "./replication-steps.ts"
import { forEachPage } from "./stored-pages.ts"

/**
 * `gone`: nothing of it is here any more; `left`: only its last state is; `known`: it is not left,
 * but each owner knows its birth; `held`: they may not.
 */
type Released = "gone" | "left" | "known" | "held"

/** How much of a partition its owners have. */
type Handed = "all" | "birth" | "unknown"

const handedTo = (replica: Replica, owners: ReadonlyArray<Participant>): Handed => {
  const participants = replica.participants()
  const behind = replica.divergent().map(({ participant }) => participant)
  const hasAll = (owner: Participant): boolean =>
    includesParticipant(participants, owner) && !includesParticipant(behind, owner)
  const hasSaidHisLast = (owner: Participant): boolean =>
    includesParticipant(replica.everybody(), owner) && !includesParticipant(participants, owner)
  if (owners.length === 0) return "unknown"
  if (owners.every(hasAll)) return "all"
  return owners.every((owner) => hasAll(owner) || hasSaidHisLast(owner)) ? "birth" : "unknown"
}

/** The step that brings a partition nearer to its end at this peer. */
export const releaseStep =
  (address: Address, ownership: Ownership): JobBody<Released> =>
  (local, resident) => {
    if (local === null) return Result.succeed({ replica: null, value: "gone" })
    const { self } = ownership
    if (!ownership.isReleased(address)) return Result.succeed({ replica: local, value: "held" })
    if (!includesParticipant(local.everybody(), self)) {
      return Result.succeed({ replica: null, value: "gone" })
    }
    if (!includesParticipant(local.participants(), self)) {
      return Result.succeed({ replica: local, value: "left", isSaved: true })
    }
    const replica = withOwners(local, address, ownership)
    if (replica !== local) resident.isWriter = true
    const handed = handedTo(replica, ownership.holdersOf(address))
    if (handed !== "all") {
      return Result.succeed({ replica, value: handed === "birth" ? "known" : "held" })
    }
    const left = replica.leave(self)
    if (Result.isFailure(left)) return Result.fail(refusalOf(left.failure))
    resident.isWriter = true
    return Result.succeed({ replica: left.success, value: "left" })
  }

/** Brings a partition nearer to its end here; whether its owners need this peer for its birth. */
const release = Effect.fnUntraced(function* (context: AntiEntropyContext, address: Address) {
  const { engine, offer, ownership, warn } = context
  const result = yield* Effect.result(engine.submit(address, releaseStep(address, ownership)))
  if (Result.isFailure(result)) {
    yield* warn("a partition cannot be let go of yet", { ...address, why: result.failure })
    return true
  }
  if (result.success === "gone") return false
  const saved = engine.table.find(address)?.saved
  for (const participant of saved?.everybody() ?? []) {
    if (!sameParticipant(participant, ownership.self)) offer(participant.peer, address)
  }
  return result.success === "held"
})

/** Goes once over what is here and not owned; how many births an owner of the key may not know. */
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
        const areHeld = yield* Effect.forEach(
          page,
          ({ key }) => release(context, { application, key: PartitionKey.make(key) }),
          { concurrency: "unbounded" }
        )
        held += areHeld.filter((isHeld) => isHeld).length
      })
    )
  }
  return held
})
