/** Who holds what by a cluster's state, and who is about to. */
import type { KeySet as KeySetType, PartitionKey, PeerId } from "@holdfast/keyspace"
import { keysOwnedBy, KeySet, ownersOf } from "@holdfast/keyspace"
import type { ClusterState, Step } from "./cluster-state.ts"
import type { ClusterMember, Life } from "./member.ts"

/** The member of this name, in whichever life. */
export const memberOf = ({ members }: ClusterState, peer: PeerId): ClusterMember | undefined =>
  members.find((member) => member.peer === peer)

/** Whether this very life is a member. */
export const isMember = (state: ClusterState, { incarnation, peer }: Life): boolean =>
  memberOf(state, peer)?.incarnation === incarnation

/** How a life ended; null if it has not: it may be a member, or never have been heard of. */
export const endOf = (
  { gone }: ClusterState,
  { incarnation, peer }: Life
): "left" | "ejected" | null => {
  const last = gone.find((one) => one.peer === peer)
  return last !== undefined && incarnation <= last.incarnation ? last.how : null
}

/** The first life in which a name may join. */
export const nextIncarnation = ({ gone }: ClusterState, peer: PeerId): number => {
  const last = gone.find((one) => one.peer === peer)
  return last === undefined ? 0 : last.incarnation + 1
}

/** The life that an owner by the present distribution is or was; null for a stranger. */
export const ownerLife = (state: ClusterState, peer: PeerId): Life | null => {
  const known = memberOf(state, peer) ?? state.gone.find((one) => one.peer === peer)
  return known === undefined ? null : { peer, incarnation: known.incarnation }
}

/**
 * The members that must hear of each change to a key: its owners, and those who are to become so.
 * Owners that are members no more are not among them.
 */
export const holdersOf = (state: ClusterState, key: PartitionKey): ReadonlyArray<PeerId> => {
  const owners = new Set(ownersOf(state.current, key))
  if (state.step !== null) for (const peer of ownersOf(state.step.target, key)) owners.add(peer)
  return [...owners].filter((peer) => memberOf(state, peer) !== undefined)
}

/** The keys that a peer owns or is about to. */
export const keysHeldBy = (state: ClusterState, peer: PeerId): KeySetType =>
  state.step === null
    ? keysOwnedBy(state.current, peer)
    : KeySet.union(keysOwnedBy(state.current, peer), keysOwnedBy(state.step.target, peer))

/** The keys that a peer gains by the step under way; none without one. */
export const gainsOf = (state: ClusterState, peer: PeerId): KeySetType =>
  state.step === null
    ? KeySet.empty
    : KeySet.difference(keysOwnedBy(state.step.target, peer), keysOwnedBy(state.current, peer))

/** Everybody who gains keys by a step. */
export const gainersOf = (state: Pick<ClusterState, "current">, step: Step) => {
  const peers = new Set(step.target.segments.flatMap(({ owners }) => owners))
  return [...peers]
    .filter(
      (peer) =>
        !KeySet.isEmpty(
          KeySet.difference(keysOwnedBy(step.target, peer), keysOwnedBy(state.current, peer))
        )
    )
    .sort()
}

/** Whether each owner knows the first birth of each of its keys, and no earlier one can come. */
export const isSwept = ({ sweep }: ClusterState): boolean => sweep.missing.length === 0

/** Whether a member that is leaving has given everything away. */
export const mayGo = (state: ClusterState, peer: PeerId): boolean =>
  memberOf(state, peer)?.phase === "leaving" && KeySet.isEmpty(keysHeldBy(state, peer))
