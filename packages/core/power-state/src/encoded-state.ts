/**
 * The form in which a state is stored and sent, version 2: JSON values only.
 *
 * Participants stand once in a table, elsewhere as places in it. An id is `[ordinal, issuer]`. The
 * application's own values are whatever its codecs make of them. Version 1 had no ejections: see
 * `encoded-state-1.ts`.
 */
import { Schema } from "effect"
import { DigestText } from "./digest.ts"
import { Origin } from "./origin.ts"
import { Incarnation, PeerId } from "./participant.ts"

/** The version that `encodeState` writes. */
export const STATE_FORMAT = 2

const Natural = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(0)))
const Ordinal = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(1)))
const Request = Schema.NonEmptyString

/** An event is `[ordinal, issuer, "event", body, request]`, and so on. */
export const EncodedEntry = Schema.Union([
  Schema.Tuple([Ordinal, Natural, Schema.Literal("event"), Schema.Unknown, Schema.NullOr(Request)]),
  Schema.Tuple([Ordinal, Natural, Schema.Literal("join"), Natural, Natural]),
  Schema.Tuple([Ordinal, Natural, Schema.Literal("leave")]),
  Schema.Tuple([Ordinal, Natural, Schema.Literal("eject"), Natural])
])

/** The infimum; `requests` are pairs of a request and its output, oldest first. */
export const EncodedInfimum = Schema.Struct({
  id: Schema.NullOr(Schema.Tuple([Ordinal, Natural])),
  count: Natural,
  value: Schema.Unknown,
  members: Schema.Array(Schema.Tuple([Natural, Natural])),
  departed: Schema.Array(Schema.Tuple([Natural, Natural, Schema.Literals(["left", "ejected"])])),
  digest: DigestText,
  requests: Schema.Array(Schema.Tuple([Request, Schema.Unknown]))
})

/** A state; `held` says for each participant through which position and which beyond. */
export const EncodedState = Schema.Struct({
  format: Schema.Literal(STATE_FORMAT),
  origin: Origin,
  requestWindow: Natural,
  authority: Schema.Literals(["majority", "cluster"]),
  /** Absent for a birth that is confirmed. */
  provisional: Schema.optionalKey(Schema.Literal(true)),
  participants: Schema.Array(Schema.Tuple([PeerId, Incarnation])),
  infimum: EncodedInfimum,
  entries: Schema.Array(EncodedEntry),
  seals: Schema.Array(Schema.Tuple([Natural, Natural])),
  held: Schema.Array(Schema.Tuple([Natural, Natural, Schema.Array(Natural)]))
})

/** A state in its stored form. */
export interface EncodedState extends Schema.Schema.Type<typeof EncodedState> {}
/** An entry in its stored form. */
export type EncodedEntry = typeof EncodedEntry.Type
