/**
 * The cluster as this peer knows it: what all members agree on, and what is on its way to that.
 *
 *     agreed     the cluster's infimum: who acts, acts by this alone
 *     projected  with all that this peer has heard of: who is told of changes goes by this
 *
 * 1. A member that has acknowledged a plan tells those who gain by it of each change from then on;
 *    so when all agree on the plan, nothing is written any more that a gainer does not hear of.
 * 2. Listeners are told after each change of what is agreed or projected.
 */
import {
  type ClusterState,
  endOf,
  holdersOf,
  isSwept,
  keysHeldBy,
  type Life,
  memberOf,
  ownerLife
} from "@holdfast/cluster"
import type { Distribution, PartitionKey, PeerId } from "@holdfast/keyspace"
import { KeySet, ownersOf } from "@holdfast/keyspace"
import type { Participant } from "@holdfast/power-state"
import { agreedState, projectedState } from "./cluster-partition.ts"
import type { Replica } from "./replica.ts"

/** A partition as a peer finds it. */
export interface BirthPlace {
  readonly peer: PeerId
  readonly key: PartitionKey
  /** The epoch that it was born under. */
  readonly epoch: number
}

/** A peer's view of who belongs to its cluster and who owns what. */
export class Membership {
  #replica: Replica
  #agreed: ClusterState
  #projected: ClusterState
  #members: ReadonlyArray<PeerId> = []
  readonly #listeners = new Set<() => void>()

  constructor(replica: Replica) {
    this.#replica = replica
    this.#agreed = agreedState(replica)
    this.#projected = projectedState(replica)
    this.#members = this.#namesOf()
  }

  #namesOf(): ReadonlyArray<PeerId> {
    const names = [...this.#agreed.members, ...this.#projected.members].map(({ peer }) => peer)
    return [...new Set(names)].sort()
  }

  /** Takes in a saved version of the cluster's replica. */
  note(replica: Replica): void {
    if (replica === this.#replica) return
    this.#replica = replica
    this.#agreed = agreedState(replica)
    this.#projected = projectedState(replica)
    this.#members = this.#namesOf()
    for (const listener of this.#listeners) listener()
  }

  /** Asks to be told of changes. */
  listen(listener: () => void): void {
    this.#listeners.add(listener)
  }

  get replica(): Replica {
    return this.#replica
  }

  get agreed(): ClusterState {
    return this.#agreed
  }

  get projected(): ClusterState {
    return this.#projected
  }

  /** Where the data is. */
  get distribution(): Distribution {
    return this.#agreed.current
  }

  /** Of the distribution. */
  get epoch(): number {
    return this.#agreed.current.epoch
  }

  /** Of the sweep that is under way, or was the last: it rises with each. */
  get round(): number {
    return this.#agreed.sweep.round
  }

  /**
   * Whether the birth of a key, by the epoch that this peer finds it under, is the first one: then
   * it is the one that counts. Others may know a later epoch; they find the same.
   */
  isFirstBirth({ epoch, key, peer }: BirthPlace): boolean {
    const { current } = this.#agreed
    return isSwept(this.#agreed) && epoch <= current.epoch && ownersOf(current, key).includes(peer)
  }

  /** The members, also those that only some have heard of yet. */
  get members(): ReadonlyArray<PeerId> {
    return this.#members
  }

  /**
   * How many members should hold a key: what a write concern counts by where owners are gone and
   * nobody has taken their place yet.
   */
  get copiesWanted(): number {
    return Math.min(this.#agreed.factor, this.#agreed.members.length)
  }

  /** How a life ended, as all agree; null if it has not. */
  endOf(life: Life): "left" | "ejected" | null {
    return endOf(this.#agreed, life)
  }

  /** The participant that a member is. */
  participantOf(peer: PeerId): Participant {
    const known = memberOf(this.#projected, peer) ?? memberOf(this.#agreed, peer)
    return { peer, incarnation: known?.incarnation ?? 0 }
  }

  /** The participants that are to hear of each change to a key, by all that is projected. */
  holdersOf(key: PartitionKey): ReadonlyArray<Participant> {
    return holdersOf(this.#projected, key).map((peer) => this.participantOf(peer))
  }

  /** The lives that own a key by what is agreed, also those that are over: equal for all. */
  foundersOf(key: PartitionKey): ReadonlyArray<Participant> {
    return ownersOf(this.distribution, key).flatMap((peer) => {
      const life = ownerLife(this.#agreed, peer)
      return life === null ? [] : [life]
    })
  }

  /** The keys that a peer owns or is about to, by either state. */
  keysHeldBy(peer: PeerId): KeySet {
    return KeySet.union(keysHeldBy(this.#agreed, peer), keysHeldBy(this.#projected, peer))
  }
}
