/** Why a message could not be exchanged: one tagged error with a code for each cause. */
import { Schema } from "effect"

/**
 * The causes. `timeout`: the deadline passed. `no-responders`: nobody serves the subject.
 * `disconnected`: no transport now. `too-large`: over the payload limit. `overloaded`: the
 * responder's backlog is full. `invalid`: the subject or a header cannot be sent. `closed`: this
 * side was shut down. `denied`: the transport refuses this client.
 */
export const MessagingErrorCode = Schema.Literals([
  "timeout",
  "no-responders",
  "disconnected",
  "too-large",
  "overloaded",
  "invalid",
  "closed",
  "denied"
])
/** One of the causes of a {@link MessagingError}. */
export type MessagingErrorCode = typeof MessagingErrorCode.Type

/**
 * A message was not exchanged; `subject` says which, `message` says why and what would be right.
 */
export class MessagingError extends Schema.TaggedError<MessagingError>()("MessagingError", {
  code: MessagingErrorCode,
  subject: Schema.String,
  message: Schema.String
}) {
  /** Whether the same request may succeed when it is sent again later. */
  get isRetryable(): boolean {
    switch (this.code) {
      case "timeout":
      case "no-responders":
      case "disconnected":
      case "overloaded":
        return true
      case "too-large":
      case "invalid":
      case "closed":
      case "denied":
        return false
    }
  }
}
