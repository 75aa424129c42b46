/** What can go wrong before a port works: connecting, and finding NATS set up as needed. */
import { AuthorizationError, UserAuthenticationExpiredError } from "@nats-io/transport-node"
import { Schema } from "effect"

/**
 * NATS cannot be used. `unreachable`: no server answered in time. `denied`: the server refused
 * these credentials. `unsupported`: the server is too old or has no JetStream. `mismatch`: a stream
 * or bucket exists, or was made, with another configuration than was asked for. `invalid`: an
 * option or a file of this client is wrong. `unavailable`: JetStream did not answer.
 */
export class NatsError extends Schema.TaggedError<NatsError>()("NatsError", {
  code: Schema.Literals([
    "unreachable",
    "denied",
    "unsupported",
    "mismatch",
    "invalid",
    "unavailable"
  ]),
  message: Schema.String
}) {}

/** The text of anything that was thrown, its cause included where it says more. */
export const textOf = (thrown: unknown): string => {
  if (!(thrown instanceof Error)) return String(thrown)
  const cause = thrown.cause instanceof Error ? thrown.cause.message : ""
  const own = thrown.message === "" ? thrown.name : thrown.message
  return cause === "" || own.includes(cause) ? own : `${own} (${cause})`
}

/** Whether an error of the client library is the server's refusal of the credentials. */
export const isRefusal = (thrown: unknown): boolean =>
  thrown instanceof AuthorizationError ||
  thrown instanceof UserAuthenticationExpiredError ||
  (thrown instanceof Error && thrown.cause instanceof Error && isRefusal(thrown.cause))
