/**
 * The form in which a diff is sent, version 1: JSON values only.
 *
 * As in a stored state, participants stand once in a table, elsewhere as places in it, and an id is
 * `[ordinal, issuer]`.
 */
import { Schema } from "effect"
import { DigestText } from "./digest.ts"
import { EncodedEntry } from "./encoded-state.ts"
import { Origin } from "./origin.ts"
import { Incarnation, PeerId } from "./participant.ts"

/** The version that `encodeDiff` writes. */
export const DIFF_FORMAT = 1

const Natural = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(0)))
const Ordinal = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(1)))
const Pair = Schema.Tuple([Natural, Natural])

/** A diff; `known` and `decided` are pairs of a participant and an ordinal. */
export const EncodedDiff = Schema.Struct({
  format: Schema.Literal(DIFF_FORMAT),
  origin: Origin,
  /** Absent for a birth that is confirmed. */
  provisional: Schema.optionalKey(Schema.Literal(true)),
  participants: Schema.Array(Schema.Tuple([PeerId, Incarnation])),
  infimum: Schema.Struct({
    id: Schema.NullOr(Schema.Tuple([Ordinal, Natural])),
    count: Natural,
    digest: DigestText
  }),
  known: Schema.Array(Pair),
  entries: Schema.Array(EncodedEntry),
  pending: Schema.Struct({ count: Natural, digest: DigestText }),
  held: Schema.Array(Schema.Tuple([Natural, Natural, Schema.Array(Natural)])),
  decided: Schema.Array(Pair)
})
/** A diff as it is sent. */
export interface EncodedDiff extends Schema.Schema.Type<typeof EncodedDiff> {}
