/** What peers tell each other: states to merge, digests to compare. */
import { Schema } from "effect"
import { Count, HexKey, PeerId } from "./identifiers.ts"
import { operation } from "./operation.ts"
import { ApplicationName, WireKeyRange } from "./peer.ts"

/** Who sends, so that a stale incarnation or boot changes nothing. */
export const PeerSender = Schema.Struct({ peer: PeerId, incarnation: Count, boot: Count })
/** Who sends. */
export type PeerSender = typeof PeerSender.Type

/**
 * A full state to merge, in the attachment; the answer's attachment is the receiver's state after
 * its merge was saved, its acknowledgement inside, or empty when the sender holds it already.
 * Errors: `different-origins`, `different-lineage`, `conflicting-event`, `infimum-mismatch`,
 * `not-an-owner`, `ejected`, `storage-full`, `invalid-request`.
 */
export const merge = operation({
  service: "peer",
  name: "merge",
  request: Schema.Struct({ application: ApplicationName, key: HexKey, sender: PeerSender }),
  response: Schema.Struct({ changed: Schema.Boolean })
})

/** The full state of one partition in the attachment, empty when the peer has none. */
export const fetch = operation({
  service: "peer",
  name: "fetch",
  request: Schema.Struct({ application: ApplicationName, key: HexKey, sender: PeerSender }),
  response: Schema.Struct({ found: Schema.Boolean })
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

/**
 * Compares ranges; answers those that differ. Where a differing range holds few partitions, the
 * answer lists them as (key, state digest) so that the asker can fetch or send just those.
 */
export const compare = operation({
  service: "peer",
  name: "compare",
  request: Schema.Struct({
    application: ApplicationName,
    sender: PeerSender,
    ranges: Schema.Array(RangeDigest).check(Schema.isMaxLength(1_024))
  }),
  response: Schema.Struct({
    differing: Schema.Array(WireKeyRange),
    listed: Schema.Array(Schema.Struct({ key: HexKey, digest: Schema.String }))
  })
})
