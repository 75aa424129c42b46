/**
 * Membership of peers: one joins, one leaves, one is killed for good and ejected, at any moment and
 * as often as there are spares; one that was ejected comes back with its store. Nobody is ejected
 * before what the last one held has been copied: who loses more copies at once than a write was
 * confirmed by loses the write.
 *
 * What must hold of it is judged by the oracles of the cluster and of the replicas; the workload of
 * partitions writes and searches meanwhile.
 */
import type { ClusterState } from "@holdfast/cluster"
import { makeCaller, makeRequestId, PeerId, PeerMembershipOperations } from "@holdfast/wire"
import { Clock, Effect, Schedule } from "effect"
import { clusterId } from "../cluster/site.ts"
import { agreedCluster } from "../oracle/cluster-agreement.ts"
import type { MakeWorkload, WorkloadOptions } from "./workload.ts"

const callEject = makeCaller(PeerMembershipOperations.eject)
const callLeave = makeCaller(PeerMembershipOperations.leave)
/** Fewer members than these are never left. */
const membersMin = 3
const untilHealed = { schedule: Schedule.spaced("1 second"), times: 100 }
const someTimes = { schedule: Schedule.spaced("1 second"), times: 20 }

const ask = Effect.fnUntraced(function* (call: typeof callLeave, peer: string) {
  const request = { peer: PeerId.make(peer) }
  const requestId = yield* makeRequestId
  yield* call({ cluster: clusterId, request, deadline: "3 seconds", requestId })
})

/** A peer that never was a member is started, or one that was ejected, with what it held. */
const join = Effect.fnUntraced(function* ({ cluster }: WorkloadOptions) {
  const { site } = cluster
  const state = agreedCluster(cluster)
  const left = state?.gone.filter(({ how }) => how === "left") ?? []
  const names = [...left, ...(state?.members ?? [])].map(({ peer }) => String(peer))
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
  yield* Effect.ignore(Effect.retry(ask(callLeave, chosen), someTimes))
})

/** Whether each key has as many living owners as it should. */
const isWhole = ({ current, members, step }: ClusterState): boolean =>
  step === null &&
  current.segments.every(({ owners }) =>
    owners.every((owner) => members.some(({ peer }) => peer === owner))
  )

/** A member dies for good and is ejected; asked for until the others can decide it. */
const eject = Effect.fnUntraced(function* ({ cluster, random }: WorkloadOptions) {
  const { site } = cluster
  const state = agreedCluster(cluster)
  const active = state?.members.filter(({ phase }) => phase === "active") ?? []
  const isOneGone = active.some(({ peer }) => site.outside.has(peer))
  if (state === undefined || isOneGone || !isWhole(state) || active.length <= membersMin) return
  const chosen = random.pick(active)?.peer ?? ""
  site.trace.add(`${chosen} dies for good`)
  site.outside.add(chosen)
  yield* Effect.sync(() => cluster.servers.get(chosen)?.kill())
  yield* Effect.ignore(Effect.retry(ask(callEject, chosen), untilHealed))
})

const program = Effect.fnUntraced(function* (options: WorkloadOptions) {
  const { phaseMillis, random } = options
  const clock = yield* Clock.Clock
  const end = clock.monotonicTimeNanosUnsafe() + BigInt(phaseMillis) * 1_000_000n
  for (;;) {
    yield* Effect.sleep(random.integer(500, phaseMillis / 3))
    if (clock.monotonicTimeNanosUnsafe() >= end) return
    const drawn = random.nextDoubleUnsafe()
    yield* drawn < 0.5 ? join(options) : drawn < 0.75 ? leave(options) : eject(options)
  }
})

/** Makes the workload of membership. */
export const membership: MakeWorkload = (options) => ({
  prepare: Effect.void,
  programs: [program(options)],
  oracles: [],
  audit: Effect.void
})
