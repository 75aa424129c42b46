/**
 * Errors of the exchange, both ways: what the client library throws, and the replies by which a
 * listener says that it could not answer. Those use the headers of the NATS micro protocol, so that
 * `nats req` shows them.
 */
import {
  ClosedConnectionError,
  DrainingConnectionError,
  InvalidArgumentError,
  PermissionViolationError,
  RequestError,
  TimeoutError
} from "@nats-io/transport-node"
import { type Headers, MessagingError, type MessagingErrorCode } from "@holdfast/messaging"
import { textOf } from "./nats-error.ts"

/** Builds a {@link MessagingError}. */
export const messagingError = (
  code: MessagingErrorCode,
  subject: string,
  message: string
): MessagingError => new MessagingError({ code, subject, message })

/** The typed error for what a request or publish of the client library threw. */
export const toMessagingError = (subject: string, thrown: unknown): MessagingError => {
  const cause = thrown instanceof Error ? thrown.cause : undefined
  if (thrown instanceof TimeoutError || cause instanceof TimeoutError) {
    return messagingError("timeout", subject, `no reply to ${subject} came by the deadline`)
  }
  if (thrown instanceof RequestError && thrown.isNoResponders()) {
    return messagingError("no-responders", subject, `nobody serves ${subject} now`)
  }
  if (thrown instanceof PermissionViolationError || cause instanceof PermissionViolationError) {
    return deniedError(subject)
  }
  if (thrown instanceof InvalidArgumentError) {
    const code = thrown.message.includes("max_payload") ? "too-large" : "invalid"
    return messagingError(code, subject, thrown.message)
  }
  if (thrown instanceof ClosedConnectionError || thrown instanceof DrainingConnectionError) {
    return closedError(subject)
  }
  return messagingError("disconnected", subject, `the exchange broke off: ${textOf(thrown)}`)
}

/** This side was shut down. */
export const closedError = (subject: string): MessagingError =>
  messagingError("closed", subject, "this connection to NATS was closed")

/** The server does not let this client use the subject. */
export const deniedError = (subject: string): MessagingError =>
  messagingError("denied", subject, `the server does not permit this client to use ${subject}`)

/** There is no server now. */
export const disconnectedError = (subject: string): MessagingError =>
  messagingError(
    "disconnected",
    subject,
    "the connection to NATS is lost and being restored; try again"
  )

/** Why a listener could not answer. */
export type Refusal = "overloaded" | "failed" | "reply-too-large" | "reply-invalid"

const statusOf = {
  overloaded: "429",
  failed: "500",
  "reply-too-large": "413",
  "reply-invalid": "502"
} as const

const refusalHeader = "Nats-Service-Error"
const refusalCodeHeader = "Nats-Service-Error-Code"

/** The headers of the reply that tells a requester of a refusal. */
export const refusalHeaders = (refusal: Refusal): Headers => ({
  [refusalHeader]: refusal,
  [refusalCodeHeader]: statusOf[refusal]
})

/** The error that a reply stands for, or undefined for an answer. */
export const refusalError = (subject: string, headers: Headers): MessagingError | undefined => {
  const refusal = headers[refusalHeader]
  return refusal !== undefined && isRefusalName(refusal)
    ? refusalErrorOf(subject, refusal)
    : undefined
}

const isRefusalName = (text: string): text is Refusal => Object.hasOwn(statusOf, text)

const refusalErrorOf = (subject: string, refusal: Refusal): MessagingError => {
  switch (refusal) {
    case "overloaded":
      return messagingError("overloaded", subject, `the backlog of ${subject} is full; try later`)
    case "failed":
      // The code of an answer that never comes, told without the wait for it.
      return messagingError(
        "timeout",
        subject,
        `the responder to ${subject} died on this message; no reply will come`
      )
    case "reply-too-large":
      return messagingError("too-large", subject, `the reply to ${subject} is over the size limit`)
    case "reply-invalid":
      return messagingError("invalid", subject, `the reply to ${subject} has headers it may not`)
  }
}
