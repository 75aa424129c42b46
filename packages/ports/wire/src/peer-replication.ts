/** What peers tell each other: that they live, states to merge, digests to compare. */
import { Schema } from "effect"
import { Count, HexKey, PeerId } from "./identifiers.ts"
import { operation } from "./operation.ts"
import { ApplicationName, WireKeyRange } from "./peer.ts"

/** Who sends, so that a stale incarnation or boot changes nothing. */
export const PeerSender = Schema.Struct({ peer: PeerId, incarnation: Count, boot: Count })
/** Who sends. */
export type PeerSender = typeof PeerSender.Type

/**
 * Published now and then by every peer on the subject of the operation name `hello`. The round of a
 * sweep says what of the cluster's state the sender acts on: he creates nothing by an earlier
 * distribution, and hears nobody who was ejected before it began.
 */
export const Hello = Schema.Struct({
  sender: PeerSender,
  epoch: Count,
  round: Schema.optionalKey(Count)
})
/** A sign of life. */
export type Hello = typeof Hello.Type

/** The last token of the subject that `Hello` is published on. */
export const helloName = "hello"

/** The most partitions in one message between peers. */
export const replicationItemsMax = 256

/** A partition's address. */
export const PartitionItem = Schema.Struct({ application: ApplicationName, key: HexKey })

/**
 * A partition of a `merge`. With `diffOf`, a diff of the state that has this digest stands in place
 * of the state; it was made against what the receiver told or acknowledged last.
 */
export const MergeItem = Schema.Struct({
  ...PartitionItem.fields,
  diffOf: Schema.optionalKey(Schema.NonEmptyString)
})
/** A partition of a `merge`. */
export type MergeItem = typeof MergeItem.Type

/**
 * What became of one state of a `merge`. `same`: merged, acknowledged and saved; the receiver now
 * holds the state that was sent with his acknowledgement, and nothing beyond it. `state`: merged
 * and saved; his state, which has more, is the next part of the answer's attachment, or, with
 * `diffOf`, a diff of it against what was sent. `refused`: see `code` (`full-state-needed`,
 * `different-origins`, `different-lineage`, `conflicting-event`, `infimum-mismatch`,
 * `not-an-owner`, `no-such-application`, `storage-full`, `undecodable`).
 */
export const MergeOutcome = Schema.Struct({
  outcome: Schema.Literals(["same", "state", "refused"]),
  code: Schema.optionalKey(Schema.String),
  message: Schema.optionalKey(Schema.String),
  diffOf: Schema.optionalKey(Schema.NonEmptyString)
})
/** What became of one state of a `merge`. */
export type MergeOutcome = typeof MergeOutcome.Type

/**
 * Full states or diffs to merge, one part of the attachment for each item (see parts); one outcome
 * for each in the answer. Errors: `stale-sender`, `shutting-down`, `invalid-request`.
 */
export const merge = operation({
  service: "peer",
  name: "merge",
  request: Schema.Struct({
    sender: PeerSender,
    items: Schema.Array(MergeItem).check(Schema.isMaxLength(replicationItemsMax))
  }),
  response: Schema.Struct({ outcomes: Schema.Array(MergeOutcome) })
})

/**
 * The full states of partitions, a part of the attachment for each key `found`. The answer takes
 * the keys in order and may stop at its byte limit: `seen` says how many it has dealt with.
 */
export const fetch = operation({
  service: "peer",
  name: "fetch",
  request: Schema.Struct({
    sender: PeerSender,
    application: ApplicationName,
    keys: Schema.Array(HexKey).check(Schema.isMaxLength(replicationItemsMax))
  }),
  response: Schema.Struct({ found: Schema.Array(HexKey), seen: Count })
})

/** A digest over the partitions of one key range. */
export const RangeDigest = Schema.Struct({
  range: WireKeyRange,
  count: Count,
  /** 16 hex digits over (key, state digest) of each. */
  digest: Schema.String
})
/** A digest over the partitions of one key range. */
export type RangeDigest = typeof RangeDigest.Type

/** A range that differs; listed in full, as (key, state digest), where it holds few partitions. */
export const DifferingRange = Schema.Struct({
  range: WireKeyRange,
  partitions: Schema.optionalKey(
    Schema.Array(Schema.Struct({ key: HexKey, digest: Schema.String }))
  )
})
/** A range that differs. */
export type DifferingRange = typeof DifferingRange.Type

/** Compares ranges; answers those that differ. Errors: `no-such-application`, `stale-sender`. */
export const compare = operation({
  service: "peer",
  name: "compare",
  request: Schema.Struct({
    application: ApplicationName,
    sender: PeerSender,
    ranges: Schema.Array(RangeDigest).check(Schema.isMaxLength(1_024))
  }),
  response: Schema.Struct({ differing: Schema.Array(DifferingRange) })
})
