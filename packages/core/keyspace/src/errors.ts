/** What the keyspace may refuse, as tagged values with a sentence for a person. */
import { Schema } from "effect"

/** Text that is no partition key. */
export class KeyTextRefused extends Schema.TaggedError<KeyTextRefused>()("KeyTextRefused", {
  message: Schema.String
}) {}

/** A list of members that cannot be distributed over: a duplicate, too many, a bad weight. */
export class MembersRefused extends Schema.TaggedError<MembersRefused>()("MembersRefused", {
  message: Schema.String
}) {}

/** Nobody owns a key, or nobody who owns it may be asked. */
export class NoOwner extends Schema.TaggedError<NoOwner>()("NoOwner", {
  message: Schema.String
}) {}
