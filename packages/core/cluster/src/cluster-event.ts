/** What can happen to a cluster, and what it answers. */
import { Distribution, PeerId } from "@holdfast/keyspace"
import { Schema } from "effect"
import type { ClusterState } from "./cluster-state.ts"
import { Capacity, Life } from "./member.ts"

/** What can happen to a cluster. */
export const ClusterEvent = Schema.TaggedUnion({
  /** A peer becomes a member; it owns nothing before a plan gives it keys. */
  Joined: { ...Life.fields, ...Capacity.fields },
  /** A member has begun to take part: from now on its store holds what others know of it. */
  Arrived: Life.fields,
  /** A member gives away what it owns, to go when that is done. */
  Leaving: Life.fields,
  /** A member that is leaving owns nothing any more and goes. */
  Left: Life.fields,
  /** A member is put out; what it alone held is lost, so this is for those who will not be back. */
  Ejected: Life.fields,
  /** A distribution for just these members, to be reached from the present one. */
  Planned: {
    ordinal: Schema.Natural,
    /** The active members that it was made for, sorted. */
    members: Schema.Array(PeerId),
    target: Distribution
  },
  /** A peer holds all that it gains by a step. */
  Gained: { ...Life.fields, ordinal: Schema.Natural },
  /** A member creates nothing by an earlier distribution, and the owners know what it held. */
  Swept: { ...Life.fields, round: Schema.Natural }
})
/** What can happen to a cluster. */
export type ClusterEvent = typeof ClusterEvent.Type

/** Why an event changed nothing. */
export const RefusalReason = Schema.Literals([
  "not-a-member",
  "other-life",
  "gone",
  "last-member",
  "names-full",
  "keys-unsettled",
  "still-owner",
  "not-leaving",
  "other-plan",
  "other-round"
])
/** Why an event changed nothing. */
export type RefusalReason = typeof RefusalReason.Type

/** What an event answers. */
export const ClusterOutput = Schema.TaggedUnion({
  Accepted: {},
  /** It was so already. */
  Unchanged: {},
  Refused: { reason: RefusalReason, message: Schema.String }
})
/** What an event answers. */
export type ClusterOutput = typeof ClusterOutput.Type

/** What applying an event gives. */
export interface Applied {
  readonly output: ClusterOutput
  readonly state: ClusterState
}
