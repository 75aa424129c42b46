/** The error envelope that every operation of every service answers with. */
import { Schema } from "effect"

/**
 * A service refused or failed a request. `code` is one word for programs, `message` a sentence for
 * people that says what would be right, `retryAfterMs` when the same request may succeed later.
 *
 * Codes that any operation may answer: `invalid-request`, `unsupported-protocol`, `overloaded`,
 * `internal`, `shutting-down`, `timeout`; the others stand with their operations.
 */
export class ServiceError extends Schema.TaggedError<ServiceError>()("ServiceError", {
  code: Schema.String.check(Schema.isPattern(/^[a-z][a-z0-9-]{0,63}$/)),
  message: Schema.String,
  retryAfterMs: Schema.optionalKey(Schema.Natural)
}) {}

/** A reply that does not keep the protocol: not JSON, not of the schema, another version. */
export class ProtocolError extends Schema.TaggedError<ProtocolError>()("ProtocolError", {
  subject: Schema.String,
  message: Schema.String
}) {}
