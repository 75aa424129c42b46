/**
 * The cluster as a partition of its own: every member holds it, and hears of each change as it
 * hears of a write. Its address is the same on every peer; clients reach it by operations of its
 * own.
 */
import {
  applyEvent,
  ClusterEvent,
  clusterName,
  ClusterState,
  makeClusterApplication
} from "@holdfast/cluster"
import { MIN_KEY } from "@holdfast/keyspace"
import type { EventId, Participant } from "@holdfast/power-state"
import { ServiceError } from "@holdfast/wire"
import { Result, Schema } from "effect"
import type { Address } from "./address.ts"
import type { JobBody } from "./job.ts"
import { type MembershipRefusal, refusalOf } from "./refusals.ts"
import type { HostedApplication, Replica } from "./replica.ts"
import { hostApplication } from "./host-application.ts"

/** Where the cluster's state is found. */
export const clusterAddress: Address = { application: clusterName, key: MIN_KEY }

/** Whether an application is the cluster itself, which clients neither write nor search. */
export const isCluster = (application: string): boolean => application === clusterName

/** The cluster's application, as it was founded. */
export const hostCluster = (founded: ClusterState): HostedApplication =>
  hostApplication(makeClusterApplication(founded), { authority: "majority" })

/** The replica that each founder begins with, equal for all of them. */
export const birthOfCluster = (hosted: HostedApplication, founded: ClusterState): Replica =>
  hosted.create({
    key: clusterAddress.key,
    epoch: 0,
    participants: founded.members.map(({ incarnation, peer }) => ({ peer, incarnation }))
  })

const decodeState = Schema.decodeUnknownSync(Schema.toCodecJson(ClusterState))
const encodeEvent = Schema.encodeSync(Schema.toCodecJson(ClusterEvent))

/** What all members agree on, as far as this replica knows. */
export const agreedState = (replica: Replica): ClusterState => decodeState(replica.infimum())

/** The same after all changes that this replica has heard of. */
export const projectedState = (replica: Replica): ClusterState => decodeState(replica.projected())

/** A change that is recorded. */
export interface Recorded {
  /** Null when it was so already. */
  readonly id: EventId | null
  readonly participants: number
  /** The cluster with the change. */
  readonly replica: Replica
}

/** What else a change does to the replica, in the same step. */
export type Amendment = (replica: Replica) => Result.Result<Replica, MembershipRefusal>

/**
 * The step that records an event of the cluster, unless the state as it is projected refuses it:
 * then nothing is recorded. What becomes of it in the order that all agree on may still differ.
 */
export const recordEvent =
  (options: {
    readonly self: Participant
    readonly event: ClusterEvent
    readonly request: string
    readonly pendingMax: number
    readonly amend?: Amendment
  }): JobBody<Recorded> =>
  (local, resident) => {
    const { amend = Result.succeed, event, pendingMax, request, self } = options
    if (local === null) return Result.fail(noCluster)
    const { output } = applyEvent(event, projectedState(local))
    switch (output._tag) {
      case "Refused":
        return Result.fail(new ServiceError({ code: output.reason, message: output.message }))
      case "Unchanged": {
        const value = { id: null, participants: local.participants().length, replica: local }
        return Result.succeed({ replica: local, value })
      }
      case "Accepted": {
        const command = { issuer: self, events: [encodeEvent(event)], request, pendingMax }
        const applied = local.apply(command)
        if (Result.isFailure(applied)) return Result.fail(refusalOf(applied.failure))
        const { id, replica: changed } = applied.success
        const acknowledged = Result.flatMap(amend(changed), (next) => next.acknowledge(self))
        if (Result.isFailure(acknowledged)) return Result.fail(refusalOf(acknowledged.failure))
        const replica = acknowledged.success
        resident.isWriter = true
        const value = { id, participants: replica.participants().length, replica }
        return Result.succeed({ replica, value })
      }
    }
  }

const noCluster = new ServiceError({
  code: "internal",
  message: "the cluster's own state is not in the store"
})
