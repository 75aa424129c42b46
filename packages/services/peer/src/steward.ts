/**
 * Does what the cluster's agreement leaves each member to do.
 *
 *     first of this store's starts      ──▶ say so
 *     settled, and the keys lie wrongly ──▶ the first live member proposes a plan
 *     a step gives this peer keys       ──▶ compare with those who have them, then say so
 *     somebody is silent for too long   ──▶ the first live member ejects him, if it may
 *     somebody was ejected              ──▶ put him out of every partition
 *     partitions that are not its own   ──▶ let go of them
 *     a sweep has begun                 ──▶ compare with all members, then say so
 *     all have swept                    ──▶ confirm births
 *     leaving, and nothing is left      ──▶ go
 *
 * 1. Members act on what all agree on. A proposal that comes too late, or twice, is refused by the
 *    state itself.
 * 2. Each task survives the failure of one run of it and is tried again.
 */
import { type ClusterState, gainsOf, type Life, mayGo, nextPlan } from "@holdfast/cluster"
import { KeySet } from "@holdfast/keyspace"
import type { Messaging } from "@holdfast/messaging"
import { PartitionStore } from "@holdfast/storage"
import { makeRequestId, ServiceError } from "@holdfast/wire"
import { Cause, Effect, Option } from "effect"
import { isCluster } from "./cluster-partition.ts"
import { ejectSilent } from "./eject-silent.ts"
import { makeGoOver } from "./go-over.ts"
import { compareWith } from "./keep-in-touch.ts"
import { recordChange } from "./membership-handlers.ts"
import type { PeerParts } from "./peer.ts"
import { letGoAndSweep } from "./sweep.ts"

const plans = new WeakMap<ClusterState, ReturnType<typeof nextPlan>>()

/** The next plan; worked out once for each state. */
const planOf = (state: ClusterState): ReturnType<typeof nextPlan> => {
  const known = plans.get(state)
  if (known !== undefined) return known
  const plan = nextPlan(state)
  plans.set(state, plan)
  return plan
}

const lifeOf = ({ identity: { incarnation, peer } }: PeerParts): Life => ({ peer, incarnation })

/** Says once that this peer is there, so that its store is missed should it be lost. */
const arrive = Effect.fnUntraced(function* (
  parts: PeerParts
): Effect.fn.Return<void, ServiceError> {
  const { membership, ownership } = parts
  if (membership.replica.hasHeardFrom(ownership.self)) return
  const event = { _tag: "Arrived", ...lifeOf(parts) } as const
  yield* recordChange(parts, { event, request: yield* makeRequestId })
})

/** Proposes the next plan, if it is for this peer to do. */
const propose = Effect.fnUntraced(function* (
  parts: PeerParts
): Effect.fn.Return<void, ServiceError> {
  const { membership, view } = parts
  const [first] = [...view.live()].sort()
  if (first !== view.self.peer || membership.replica.pending() > 0) return
  const plan = planOf(membership.agreed)
  if (Option.isNone(plan)) return
  yield* recordChange(parts, { event: plan.value, request: yield* makeRequestId })
})

/** Takes over what this peer gains, and says so. */
const gain = Effect.fnUntraced(function* (
  parts: PeerParts
): Effect.fn.Return<void, ServiceError, Messaging> {
  const { completeness, membership, view } = parts
  const { step } = membership.agreed
  const gains = gainsOf(membership.agreed, view.self.peer)
  if (step === null || KeySet.isEmpty(gains)) return
  const known = membership.projected.step
  if (known?.ordinal !== step.ordinal || known.gained.includes(view.self.peer)) return
  // One at a time: meanwhile the owners tell one another that this peer takes part, and the next
  // of them differs in little. Who does not answer now is asked again, as long as it is live.
  const [source] = completeness.sourcesLeft(gains)
  if (source !== undefined) yield* Effect.ignore(compareWith(parts, source))
  if (membership.agreed.step !== step || !completeness.hasGained(gains)) return
  const event = { _tag: "Gained", ...lifeOf(parts), ordinal: step.ordinal } as const
  yield* recordChange(parts, { event, request: yield* makeRequestId })
})

/** Leaves the cluster, when this peer is to and holds nothing more. */
const go = Effect.fnUntraced(function* (parts: PeerParts) {
  const { membership, ownership, view } = parts
  if (!mayGo(membership.agreed, view.self.peer) || membership.replica.pending() > 0) return
  const store = yield* PartitionStore
  const sizes = yield* store.size
  if (sizes.some(({ application, partitions }) => !isCluster(application) && partitions > 0)) return
  yield* recordChange(parts, {
    event: { _tag: "Left", ...lifeOf(parts) },
    request: yield* makeRequestId,
    amend: (changed) => changed.leave(ownership.self)
  })
})

/** Runs a task; what is refused, as others were first or are away, is tried again in silence. */
const attempt = <E, R>(
  { warn }: PeerParts,
  what: string,
  task: Effect.Effect<unknown, E, R>
): Effect.Effect<void, never, R> =>
  Effect.catchCause(Effect.asVoid(task), (cause) =>
    Option.exists(Cause.findErrorOption(cause), isRefusal)
      ? Effect.logDebug(`${what} was refused`, cause)
      : warn(`${what} failed and is tried again`, cause)
  )

const isRefusal = (error: unknown): boolean => error instanceof ServiceError

/** Looks after the cluster until it is interrupted. */
export const steward = (
  parts: PeerParts
): Effect.Effect<never, never, Messaging | PartitionStore> => {
  const goOver = makeGoOver(parts)
  return Effect.forever(
    Effect.gen(function* () {
      yield* Effect.sleep(parts.settings.times.stewardMillis)
      const { membership, ownership, view } = parts
      const end = membership.endOf(ownership.self)
      if (end !== null) view.noteEnd(end)
      if (view.end !== null) return
      yield* attempt(parts, "arriving", arrive(parts))
      yield* attempt(parts, "proposing a plan", propose(parts))
      yield* attempt(parts, "taking keys over", gain(parts))
      yield* attempt(parts, "ejecting the silent", ejectSilent(parts))
      yield* attempt(parts, "going over partitions", goOver)
      yield* attempt(parts, "letting go of partitions", letGoAndSweep(parts))
      yield* attempt(parts, "leaving", go(parts))
    })
  )
}
