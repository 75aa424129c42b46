/**
 * Membership of peers: one joins, one leaves, at any moment and as often as there are spares.
 *
 * What must hold of it is judged by the oracles of the cluster and of the replicas; the workload of
 * partitions writes and searches meanwhile.
 */
import { makeCaller, makeRequestId, PeerId, PeerMembershipOperations } from "@holdfast/wire"
import { Clock, Effect, Schedule } from "effect"
import { clusterId } from "../cluster/site.ts"
import { agreedCluster } from "../oracle/cluster-agreement.ts"
import type { MakeWorkload, WorkloadOptions } from "./workload.ts"

const callLeave = makeCaller(PeerMembershipOperations.leave)
/** Fewer members than these are never left. */
const membersMin = 3
const someTimes = { schedule: Schedule.spaced("1 second"), times: 20 }

const askToLeave = Effect.fnUntraced(function* (peer: string) {
  const request = { peer: PeerId.make(peer) }
  const requestId = yield* makeRequestId
  yield* callLeave({ cluster: clusterId, request, deadline: "3 seconds", requestId })
})

/** A peer that never was a member is started. */
const join = Effect.fnUntraced(function* ({ cluster }: WorkloadOptions) {
  const { site } = cluster
  const names = agreedCluster(cluster)?.gone.map(({ peer }) => String(peer)) ?? []
  const spare = cluster.peers.find(({ isOutside, name }) => isOutside && !names.includes(name))
  if (spare === undefined) return
  site.trace.add(`${spare.name} is to join`)
  site.outside.delete(spare.name)
  yield* Effect.sync(() => spare.start())
})

/** A member is told to leave, several times while nobody answers. */
const leave = Effect.fnUntraced(function* ({ cluster, random }: WorkloadOptions) {
  const state = agreedCluster(cluster)
  const active = state?.members.filter(({ phase }) => phase === "active") ?? []
  if (active.length <= membersMin) return
  const chosen = random.pick(active)?.peer ?? ""
  cluster.site.trace.add(`${chosen} is to leave`)
  yield* Effect.ignore(Effect.retry(askToLeave(chosen), someTimes))
})

const program = Effect.fnUntraced(function* (options: WorkloadOptions) {
  const { phaseMillis, random } = options
  const clock = yield* Clock.Clock
  const end = clock.monotonicTimeNanosUnsafe() + BigInt(phaseMillis) * 1_000_000n
  for (;;) {
    yield* Effect.sleep(random.integer(500, phaseMillis / 3))
    if (clock.monotonicTimeNanosUnsafe() >= end) return
    yield* random.chance(0.5) ? join(options) : leave(options)
  }
})

/** Makes the workload of membership. */
export const membership: MakeWorkload = (options) => ({
  prepare: Effect.void,
  programs: [program(options)],
  oracles: [],
  audit: Effect.void
})
