/**
 * Works out what a cluster has to do next.
 *
 * The plan travels in the event that proposes it, so that members that would plan otherwise, after
 * an update of their software, follow the one that came first all the same.
 */
import { rebalance } from "@holdfast/keyspace"
import type { Distribution, Member } from "@holdfast/keyspace"
import { Equal, Option, Result } from "effect"
import { activeMembers } from "./apply.ts"
import type { ClusterEvent } from "./cluster-event.ts"
import type { ClusterState } from "./cluster-state.ts"
import type { ClusterMember } from "./member.ts"

const toMember = ({ peer, weight, zone }: ClusterMember): Member => ({
  peer,
  weight,
  ...(zone === undefined ? {} : { zone })
})

const isSame = (left: Distribution, right: Distribution): boolean =>
  Equal.equals(left.segments, right.segments)

/**
 * The event that begins the next step; none while a step is under way, or when the keys are as the
 * members' weights and zones want them. Costs what `rebalance` costs.
 */
export const nextPlan = (
  state: ClusterState
): Option.Option<Extract<ClusterEvent, { readonly _tag: "Planned" }>> => {
  if (state.step !== null) return Option.none()
  const members = activeMembers(state)
  const ordinal = state.ordinal + 1
  const planned = rebalance({
    current: state.current,
    members: members.map(toMember),
    factor: state.factor,
    epoch: ordinal
  })
  // Members and epoch are right by the state's invariants, so there is nothing to refuse.
  if (Result.isFailure(planned)) throw new Error(planned.failure.message)
  const target = planned.success
  return isSame(target, state.current)
    ? Option.none()
    : Option.some({ _tag: "Planned", ordinal, members: members.map(({ peer }) => peer), target })
}
