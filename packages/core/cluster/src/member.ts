/** Who belongs to a cluster, who did, and how they are told apart. */
import { PeerId, WEIGHT_MAX } from "@holdfast/keyspace"
import { Schema } from "effect"

/** The most names that a cluster keeps, of members and of those who are gone. */
export const NAMES_MAX = 4096

/** Counts the lives of a peer; a life that is over never counts again. */
export const Incarnation = Schema.Natural

/** A peer in one of its lives. */
export const Life = Schema.Struct({ peer: PeerId, incarnation: Incarnation })
/** A peer in one of its lives. */
export type Life = typeof Life.Type

/** What a member brings: its share of the load against the others', and where it stands. */
export const Capacity = Schema.Struct({
  weight: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: WEIGHT_MAX })),
  zone: Schema.optionalKey(Schema.NonEmptyString)
})
/** What a member brings. */
export type Capacity = typeof Capacity.Type

/** `leaving`: it gives away what it owns and takes nothing more. */
export const MemberPhase = Schema.Literals(["active", "leaving"])

/** A member of the cluster. */
export const ClusterMember = Schema.Struct({
  ...Life.fields,
  ...Capacity.fields,
  phase: MemberPhase
})
/** A member of the cluster. */
export type ClusterMember = typeof ClusterMember.Type

/** A name that belonged to the cluster: this life of it, and all before, are over for ever. */
export const GoneMember = Schema.Struct({
  ...Life.fields,
  how: Schema.Literals(["left", "ejected"])
})
/** A name that belonged to the cluster. */
export type GoneMember = typeof GoneMember.Type

/** A life as one line of text, `peer.incarnation`. */
export const formatLife = ({ incarnation, peer }: Life): string => `${peer}.${incarnation}`
