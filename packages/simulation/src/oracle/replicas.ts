/**
 * The partitions of the peers, in their stores and in their memory.
 *
 * | invariant | what must hold |
 * |---|---|
 * | replica-... | the core's own invariants, of every replica in memory |
 * | one-birth | of all births of a partition one at most ever folds anything |
 * | liveness | once nothing fails, all owners of a partition store the same state, nothing pending |
 */
import { durablePartitions } from "@holdfast/adapter-memory"
import { ownersOf, PartitionKey } from "@holdfast/keyspace"
import type { Address, Replica } from "@holdfast/service-peer"
import { Result } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { applications } from "../cluster/nodes.ts"
import { agreedCluster } from "./cluster-agreement.ts"
import type { Oracle } from "./oracle.ts"

/** A partition as one peer stores it. */
export interface DurableReplica {
  readonly peer: string
  readonly application: string
  readonly key: string
  readonly replica: Replica
}

const decoded = new WeakMap<Uint8Array, Replica | null>()

const decode = (application: string, state: Uint8Array): Replica | null => {
  const known = decoded.get(state)
  if (known !== undefined) return known
  const result = applications.find(({ name }) => name === application)?.decode(state)
  const replica = result !== undefined && Result.isSuccess(result) ? result.success : null
  decoded.set(state, replica)
  return replica
}

/** Every intact partition on a peer's disk; what is unchanged is decoded once. */
const replicasOn = (cluster: SimulatedCluster, peer: string): ReadonlyArray<DurableReplica> =>
  durablePartitions(cluster.site.disk(peer).cells("partitions")).flatMap(
    ({ application, key, state }) => {
      const replica = decode(application, state)
      return replica === null ? [] : [{ peer, application, key, replica }]
    }
  )

/** Whatever any peer has saved, also one who died for good since. */
export const everySavedReplica = (cluster: SimulatedCluster): ReadonlyArray<DurableReplica> =>
  cluster.peers.flatMap(({ name }) => replicasOn(cluster, name))

/**
 * Every intact partition in the stores of the peers that belong to the cluster; what is unchanged
 * is decoded once. What those hold who died for good is nobody's any more.
 */
export const durableReplicas = (cluster: SimulatedCluster): ReadonlyArray<DurableReplica> =>
  cluster.peers.flatMap(({ isOutside, name }) => (isOutside ? [] : replicasOn(cluster, name)))

/** The owners of a key by the newest distribution that the peers agree on. */
export const ownersIn = (cluster: SimulatedCluster, key: string): ReadonlyArray<string> => {
  const agreed = agreedCluster(cluster)
  return agreed === undefined ? [] : ownersOf(agreed.current, PartitionKey.make(key))
}

const apart = (
  cluster: SimulatedCluster,
  held: ReadonlyArray<DurableReplica>
): ReadonlyArray<string> => {
  const [first] = held
  if (first === undefined) return []
  const name = `${first.application} ${first.key.slice(0, 8)}`
  const owners = ownersIn(cluster, first.key)
  const missing = owners.filter((owner) => !held.some(({ peer }) => peer === owner))
  const strangers = held.filter(({ peer }) => !owners.includes(peer))
  const digests = new Set(held.map(({ replica }) => replica.digest()))
  const pending = Math.max(...held.map(({ replica }) => replica.pending()))
  return [
    ...missing.map((owner) => `${owner} does not hold ${name}`),
    ...strangers.map(({ peer }) => `${peer} holds ${name} and does not own it`),
    ...(digests.size === 1 ? [] : [`${name} has ${digests.size} states`]),
    ...(pending === 0 ? [] : [`${name} has ${pending} entries pending`])
  ]
}

/** Judges the replicas of all applications. */
export const makeReplicaOracle = (cluster: SimulatedCluster): Oracle => {
  const judged = new WeakSet<Replica>()
  const judge = (peer: string, replica: Replica | null): void => {
    if (replica === null || judged.has(replica)) return
    judged.add(replica)
    for (const violation of replica.invariants()) {
      cluster.site.report("replica", `${peer}: ${JSON.stringify(violation)}`)
    }
  }
  const births = new Map<string, number>()
  const judgeBirth = (peer: string, address: Address, saved: Replica | null): void => {
    if (saved === null || !saved.hasFolded()) return
    const name = `${address.application} ${address.key.slice(0, 8)}`
    const epoch = saved.birthEpoch()
    const known = births.get(name) ?? epoch
    births.set(name, known)
    if (known === epoch) return
    cluster.site.report("one-birth", `${name}: folded of epoch ${known}, at ${peer} of ${epoch}`)
  }
  return {
    step: () => {
      for (const { name, service } of cluster.peers) {
        for (const { address, current, saved } of service?.parts.engine.table.values() ?? []) {
          judge(name, current)
          judgeBirth(name, address, saved)
        }
      }
    },
    unsettled: () => {
      const groups = Map.groupBy(
        durableReplicas(cluster),
        ({ application, key }) => `${application}/${key}`
      )
      return [...groups.values()].flatMap((held) => apart(cluster, held))
    }
  }
}
