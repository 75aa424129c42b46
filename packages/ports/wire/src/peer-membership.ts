/**
 * How a cluster of peers grows and shrinks. Any peer takes any of these; what it says is agreed on
 * by all members before anybody acts on it, so the answers say what was recorded, not what is done.
 */
import { Schema } from "effect"
import { Count, HexKey, PeerId } from "./identifiers.ts"
import { operation } from "./operation.ts"
import { ApplicationName } from "./peer.ts"
import { PeerSender } from "./peer-replication.ts"

const Weight = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))

/**
 * Takes a peer in; a repeat changes nothing. The attachment is the state of the cluster, which the
 * newcomer saves before it does anything else. Instead of it, `incarnation` names the first life in
 * which the name may join, when the one that asks is over: nothing is recorded then. Errors:
 * `other-life`, `names-full`, `store-lost` (that life has taken part already), `keys-unsettled` (ask
 * again later).
 */
export const join = operation({
  service: "peer",
  name: "join",
  request: Schema.Struct({
    sender: PeerSender,
    weight: Weight,
    zone: Schema.optionalKey(Schema.NonEmptyString)
  }),
  response: Schema.Struct({ incarnation: Schema.optionalKey(Count) })
})

/**
 * Lets a member give away what it owns, and go when that is done. Errors: `not-a-member`,
 * `last-member`, `write-concern-not-met`.
 */
export const leave = operation({
  service: "peer",
  name: "leave",
  request: Schema.Struct({ peer: PeerId }),
  response: Schema.Struct({})
})

/**
 * Puts a member out that will not come back: its life is over for ever, and the keys it held are
 * copied from the others. A majority of the members must be there to decide it; `force` goes
 * without: the peer that takes the request begins a new lineage of the cluster with what it knows,
 * and the others that are left go over to it. Errors: `not-a-member`, `last-member`,
 * `self-ejection`, `no-majority`, `write-concern-not-met`.
 */
export const eject = operation({
  service: "peer",
  name: "eject",
  request: Schema.Struct({ peer: PeerId, force: Schema.optionalKey(Schema.Boolean) }),
  response: Schema.Struct({})
})

/**
 * Takes what only the store of an ejected life holds. The attachment is one partition as that store
 * has it; those of its requests that do not count are submitted again under their own ids, and are
 * held by a majority when this is answered. Any peer passes it on to an owner, once. Errors:
 * `no-such-application`, `undecodable`, `history-unknown` (nobody holds what was folded there), and
 * such as pass: `not-ejected`, `ejection-undecided`, `not-an-owner`, `write-concern-not-met`.
 */
export const reclaim = operation({
  service: "peer",
  name: "reclaim",
  request: Schema.Struct({
    life: Schema.Struct({ peer: PeerId, incarnation: Count }),
    application: ApplicationName,
    key: HexKey,
    isPassedOn: Schema.optionalKey(Schema.Boolean)
  }),
  response: Schema.Struct({ submitted: Count })
})

/** A member as the cluster agrees on it. */
export const MemberView = Schema.Struct({
  peer: PeerId,
  incarnation: Count,
  weight: Weight,
  zone: Schema.optionalKey(Schema.NonEmptyString),
  phase: Schema.Literals(["active", "leaving"]),
  /** Its part of all copies of keys, 0 to 1. */
  share: Schema.Finite,
  live: Schema.Boolean
})
/** A member as the cluster agrees on it. */
export type MemberView = typeof MemberView.Type

/** The cluster as one peer knows that all members agree on it. */
export const cluster = operation({
  service: "peer",
  name: "cluster",
  request: Schema.Struct({}),
  response: Schema.Struct({
    peer: PeerId,
    epoch: Count,
    factor: Count,
    members: Schema.Array(MemberView),
    gone: Schema.Array(
      Schema.Struct({
        peer: PeerId,
        incarnation: Count,
        how: Schema.Literals(["left", "ejected"])
      })
    ),
    /** Keys on their way: to whom, and which of them hold theirs. */
    step: Schema.NullOr(
      Schema.Struct({
        ordinal: Count,
        gaining: Schema.Array(PeerId),
        gained: Schema.Array(PeerId)
      })
    ),
    /**
     * Members that have not compared themselves with all others since keys moved last; until they
     * have, partitions that are new since then keep their entries pending.
     */
    sweeping: Schema.Array(PeerId),
    /** Changes that not all members are known to have heard of yet, and who is waited for. */
    pending: Count,
    waitingFor: Schema.Array(PeerId)
  })
})
