/** Who keys are distributed over: peers with an optional weight and zone. */
import { Schema } from "effect"

/** A peer's name: safe in a NATS subject and a file name. */
export const PeerId = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)),
  Schema.brand("PeerId")
)
/** A peer's name: safe in a NATS subject and a file name. */
export type PeerId = typeof PeerId.Type

/** The most members a distribution may have. */
export const MEMBERS_MAX = 4096
/** The largest weight of a member. */
export const WEIGHT_MAX = 1_000_000
/** The largest replication factor. */
export const FACTOR_MAX = 15
/** The replication factor if none is named. */
export const FACTOR_DEFAULT = 3

/**
 * One peer that keys may be given to. `weight` (whole, 1 .. 1,000,000, default 1) is its share of
 * the load against the others'; members of one `zone` (a rack, a building) avoid holding the same
 * key as far as weights allow. Members without a zone stand each for themselves.
 */
export const Member = Schema.Struct({
  peer: PeerId,
  weight: Schema.optionalKey(
    Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: WEIGHT_MAX })))
  ),
  zone: Schema.optionalKey(Schema.NonEmptyString)
})
/** One peer that keys may be given to. */
export type Member = typeof Member.Type
