/**
 * What the peers agree on about their cluster, as their disks say.
 *
 * | invariant | what must hold |
 * |---|---|
 * | cluster-... | the core's own invariants, of each state that is agreed on |
 * | cluster-apart | two peers that agree on one plan agree on the same one |
 * | liveness | once nothing fails, all members agree on one state, and nothing is on its way |
 */
import { durablePartitions } from "@holdfast/adapter-memory"
import { type ClusterState, clusterName, invariants, nextPlan } from "@holdfast/cluster"
import { agreedState, type Replica } from "@holdfast/service-peer"
import { Option, Result } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { hostedCluster } from "../cluster/nodes.ts"
import type { Oracle } from "./oracle.ts"

/** The cluster as one peer stores it. */
interface StoredCluster {
  readonly peer: string
  readonly replica: Replica
  readonly agreed: ClusterState
}

const decoded = new WeakMap<Uint8Array, Omit<StoredCluster, "peer"> | null>()

const decode = (state: Uint8Array): Omit<StoredCluster, "peer"> | null => {
  const known = decoded.get(state)
  if (known !== undefined) return known
  const result = hostedCluster.decode(state)
  const stored = Result.isSuccess(result)
    ? { replica: result.success, agreed: agreedState(result.success) }
    : null
  decoded.set(state, stored)
  return stored
}

const storedClusters = (cluster: SimulatedCluster): ReadonlyArray<StoredCluster> =>
  cluster.peers.flatMap(({ name: peer }) =>
    durablePartitions(cluster.site.disk(peer).cells("partitions")).flatMap(
      ({ application, state }) => {
        const stored = application === clusterName ? decode(state) : null
        return stored === null ? [] : [{ peer, ...stored }]
      }
    )
  )

/** The newest state that some peer knows all to agree on; none before the first start. */
export const agreedCluster = (cluster: SimulatedCluster): ClusterState | undefined =>
  storedClusters(cluster)
    .map(({ agreed }) => agreed)
    .reduce<ClusterState | undefined>(
      (newest, each) => (newest === undefined || isNewer(each, newest) ? each : newest),
      undefined
    )

/** How far the lives of a name have come: each joins, may leave, and is gone in the end. */
const lifeStages = { active: 1, leaving: 2, gone: 3 } as const
const stageOf = (incarnation: number, stage: keyof typeof lifeStages): number =>
  incarnation * lifeStages.gone + lifeStages[stage]

const progressOf = ({
  current,
  gone,
  members,
  ordinal,
  step,
  sweep
}: ClusterState): ReadonlyArray<number> => {
  const present = members.map(({ incarnation, phase }) => stageOf(incarnation, phase))
  const past = gone
    .filter((one) => members.every(({ peer }) => peer !== one.peer))
    .map(({ incarnation }) => stageOf(incarnation, "gone"))
  return [
    ordinal,
    current.epoch,
    [...present, ...past].reduce((sum, stage) => sum + stage, 0),
    step?.gained.length ?? 0,
    sweep.round,
    -sweep.missing.length
  ]
}

const isNewer = (left: ClusterState, right: ClusterState): boolean => {
  const [mine, other] = [progressOf(left), progressOf(right)]
  const at = mine.findIndex((figure, index) => figure !== other[index])
  return at >= 0 && (mine[at] ?? 0) > (other[at] ?? 0)
}

const unsettledOf = (cluster: SimulatedCluster): ReadonlyArray<string> => {
  const newest = agreedCluster(cluster)
  if (newest === undefined) return cluster.peers.length === 0 ? [] : ["there is no cluster"]
  const members = newest.members.map(({ peer }) => String(peer))
  const stored = storedClusters(cluster).filter(({ peer }) => members.includes(peer))
  const digests = new Set(stored.map(({ replica }) => replica.digest()))
  const pending = stored.filter(({ replica }) => replica.pending() > 0)
  const leaving = newest.members.filter(({ phase }) => phase === "leaving")
  const outside = members.filter((peer) => cluster.site.outside.has(peer))
  return [
    ...(digests.size === 1 ? [] : [`${digests.size} states of the cluster are there`]),
    ...pending.map(({ peer }) => `${peer} knows of changes to the cluster not all agree on`),
    ...leaving.map(({ peer }) => `${peer} is still leaving`),
    ...outside.map((peer) => `${peer} is a member and does not run`),
    ...(newest.step === null ? [] : [`step ${newest.step.ordinal} is under way`]),
    ...(Option.isNone(nextPlan(newest)) ? [] : ["keys do not lie as they should"])
  ]
}

/** Judges what the peers agree on. */
export const makeClusterOracle = (cluster: SimulatedCluster): Oracle => {
  const judged = new WeakSet<ClusterState>()
  const plans = new Map<number, string>()
  const judge = (peer: string, state: ClusterState): void => {
    if (judged.has(state)) return
    judged.add(state)
    for (const { detail, invariant } of invariants(state)) {
      cluster.site.report(`cluster-${invariant}`, `${peer}: ${detail}`)
    }
    const plan = JSON.stringify(state.current)
    const known = plans.get(state.current.epoch)
    if (known === undefined) plans.set(state.current.epoch, plan)
    else if (known !== plan) {
      cluster.site.report("cluster-apart", `${peer} has another epoch ${state.current.epoch}`)
    }
  }
  return {
    step: () => {
      for (const { name, service } of cluster.peers) {
        if (service !== undefined) judge(name, service.parts.membership.agreed)
      }
    },
    unsettled: () => unsettledOf(cluster)
  }
}
