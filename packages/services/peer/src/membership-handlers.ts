/**
 * What a peer answers about its cluster: it takes newcomers in, lets members leave, and says what
 * is agreed on.
 *
 * 1. What is answered is held by a majority of the members, so no single loss takes it back.
 * 2. A newcomer takes part from the step that records it: its acknowledgement is waited for.
 */
import {
  type ClusterEvent,
  endOf,
  formatLife,
  gainersOf,
  type Life,
  memberOf,
  nextIncarnation
} from "@holdfast/cluster"
import { KEY_SPACE_SIZE, loadOfPeers, type PeerId } from "@holdfast/keyspace"
import {
  type Answer,
  type PeerMembershipOperations,
  type RequestContext,
  ServiceError
} from "@holdfast/wire"
import { Effect, Random } from "effect"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { type Amendment, clusterAddress, type Recorded, recordEvent } from "./cluster-partition.ts"
import { monotonicMillis } from "./monotonic.ts"
import { stateRoom } from "./sender.ts"
import { awaitConcern } from "./write-concern.ts"

/** A change to the cluster that this peer is to record. */
export interface ClusterChange {
  readonly event: ClusterEvent
  readonly request: string
  readonly amend?: Amendment
}

/** Records a change and answers when it is durable here. */
const recordHere = (
  { engine, ownership, settings }: AntiEntropyContext,
  change: ClusterChange
): Effect.Effect<Recorded, ServiceError> => {
  const { pendingMax } = settings.limits
  return engine.submit(clusterAddress, recordEvent({ ...change, self: ownership.self, pendingMax }))
}

/** Records a change and answers when a majority of the members holds it. */
export const recordChange = Effect.fnUntraced(function* (
  context: AntiEntropyContext,
  change: ClusterChange
): Effect.fn.Return<Recorded, ServiceError> {
  const { engine, settings } = context
  const recorded = yield* recordHere(context, change)
  const expiresAt = (yield* monotonicMillis) + settings.times.requestMillis
  const wait = { ...recorded, concern: "majority", expiresAt } as const
  yield* awaitConcern(engine.table, clusterAddress, wait)
  return recorded
})

/** Records that a member is put out. */
export const recordEjection = (
  context: AntiEntropyContext,
  { incarnation, peer }: Life,
  request: string
): Effect.Effect<Recorded, ServiceError> => {
  const participant = { peer, incarnation }
  const issuer = context.ownership.self
  return recordChange(context, {
    event: { _tag: "Ejected", ...participant },
    request,
    amend: (changed) => changed.eject({ issuer, participant })
  })
}

const storeLost = (life: Life): ServiceError =>
  new ServiceError({
    code: "store-lost",
    message:
      `${formatLife(life)} has taken part already, and its store does not know of it: ` +
      "start it on the store that it had, or eject it and let it join anew"
  })

interface JoinRequest {
  readonly sender: Life
  readonly weight: number
  readonly zone?: string
}

/** Answers `join`. */
export const handleJoin =
  (context: AntiEntropyContext) =>
  (
    request: JoinRequest,
    { requestId }: RequestContext
  ): Effect.Effect<Answer<{ readonly incarnation?: number }>, ServiceError> =>
    Effect.gen(function* () {
      const { membership, ownership } = context
      const { incarnation, peer } = request.sender
      const life = { peer, incarnation }
      if (endOf(membership.projected, life) !== null) {
        return { response: { incarnation: nextIncarnation(membership.projected, peer) } }
      }
      const { id, replica } = yield* recordChange(context, {
        event: {
          _tag: "Joined",
          ...life,
          weight: request.weight,
          ...(request.zone === undefined ? {} : { zone: request.zone })
        },
        request: requestId,
        amend: (changed) => changed.participate({ issuer: ownership.self, participant: life })
      })
      if (id === null && replica.hasHeardFrom(life)) return yield* storeLost(life)
      const bytes = replica.bytes()
      if (bytes.length <= stateRoom(context)) return { response: {}, attachment: bytes }
      const message = `the cluster's state has ${bytes.length} bytes, too many for a message`
      return yield* new ServiceError({ code: "too-large", message })
    })

/** Answers `leave`. */
export const handleLeave =
  (context: AntiEntropyContext) =>
  (
    { peer }: { readonly peer: PeerId },
    { requestId }: RequestContext
  ): Effect.Effect<Answer<object>, ServiceError> =>
    Effect.gen(function* () {
      const member = memberOf(context.membership.projected, peer)
      if (member === undefined) return yield* noMember(peer)
      const { incarnation } = member
      const event = { _tag: "Leaving", peer, incarnation } as const
      yield* recordChange(context, { event, request: requestId })
      return { response: {} }
    })

/** Answers `eject`. */
export const handleEject =
  (context: AntiEntropyContext) =>
  (
    { force = false, peer }: { readonly peer: PeerId; readonly force?: boolean },
    { requestId }: RequestContext
  ): Effect.Effect<Answer<object>, ServiceError> =>
    Effect.gen(function* () {
      const { membership, ownership } = context
      const member = memberOf(membership.projected, peer)
      if (member === undefined) return yield* noMember(peer)
      if (force) {
        const participant = { peer, incarnation: member.incarnation }
        const event = { _tag: "Ejected", ...participant } as const
        const lineage =
          membership.replica.lineage() + (yield* Random.nextIntBetween(1, LINEAGE_STEP))
        const amend: Amendment = (changed) =>
          changed.forceEject({ issuer: ownership.self, ejected: [participant], lineage })
        yield* recordHere(context, { event, request: requestId, amend })
      } else yield* recordEjection(context, member, requestId)
      return { response: {} }
    })

/** Lineages are drawn, so that two operators who force at the same time do not begin the same. */
const LINEAGE_STEP = 2 ** 31

const noMember = (peer: PeerId): ServiceError =>
  new ServiceError({ code: "not-a-member", message: `${peer} is no member of the cluster` })

/** Each member's part of all copies of keys. */
const sharesOf = ({ membership }: AntiEntropyContext) => {
  const loads = loadOfPeers(membership.distribution)
  const copies = membership.distribution.segments[0]?.owners.length ?? 0
  const total = Number(KEY_SPACE_SIZE) * Math.max(1, copies)
  return (peer: PeerId): number => Number(loads.get(peer) ?? 0n) / total
}

/** Answers `cluster`. */
export const showCluster = (
  context: AntiEntropyContext
): typeof PeerMembershipOperations.cluster.response.Type => {
  const { membership, view } = context
  const { agreed, replica } = membership
  const { gone, members, step, sweep } = agreed
  const shareOf = sharesOf(context)
  const waitingFor = replica.divergent().map(({ participant }) => participant.peer)
  return {
    peer: view.self.peer,
    epoch: membership.epoch,
    factor: agreed.factor,
    members: members.map((member) => ({
      ...member,
      share: shareOf(member.peer),
      live: view.isLive(member.peer)
    })),
    gone,
    step:
      step === null
        ? null
        : { ordinal: step.ordinal, gaining: gainersOf(agreed, step), gained: step.gained },
    sweeping: sweep.missing,
    pending: replica.pending(),
    waitingFor: [...new Set(waitingFor)]
  }
}
