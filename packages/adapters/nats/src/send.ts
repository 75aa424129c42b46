/** The sending side: requests, publishes and replies over one connection. */
import type { Msg } from "@nats-io/transport-node"
import type { MessagingError, PublishOptions, Reply, RequestOptions } from "@holdfast/messaging"
import { Duration, Effect, Result } from "effect"
import { EncodedHeaders } from "./header-block.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { bytesOf } from "./message-bytes.ts"
import {
  closedError,
  disconnectedError,
  messagingError,
  type Refusal,
  refusalError,
  refusalHeaders,
  toMessagingError
} from "./message-error.ts"
import { publishFault } from "./subject.ts"
import { decodeTextHeaders, encodeTextHeaders } from "./text-headers.ts"

const defaultMaxPayload = 1_048_576
const longestTimer = 2_147_483_647

/** Fails one request that is under way with the error made for its subject. */
export type FailRequest = (error: (subject: string) => MessagingError) => void

/** The server's limit now; it may be another one after a reconnect. */
export const maxPayloadOf = (connection: ManagedConnection): number =>
  connection.native.info?.max_payload ?? defaultMaxPayload

type Prepared = { readonly headers?: EncodedHeaders }

/** Checks a message and encodes its headers; nothing is sent. */
const prepare = (
  connection: ManagedConnection,
  message: PublishOptions
): Result.Result<Prepared, MessagingError> => {
  const { subject } = message
  const fault = publishFault(subject)
  if (fault !== undefined) return Result.fail(messagingError("invalid", subject, fault))
  const headers = encodeTextHeaders(message.headers)
  if (Result.isFailure(headers)) {
    return Result.fail(messagingError("invalid", subject, headers.failure))
  }
  const block = headers.success
  const size = (block?.length ?? 0) + message.data.length
  const limit = maxPayloadOf(connection)
  if (size > limit) {
    const text = `the message has ${size} bytes with its headers; the server takes ${limit}`
    return Result.fail(messagingError("too-large", subject, text))
  }
  switch (connection.state()) {
    case "connected":
      return Result.succeed(block === undefined ? {} : { headers: new EncodedHeaders(block) })
    case "reconnecting":
      return Result.fail(disconnectedError(subject))
    case "closed":
      return Result.fail(closedError(subject))
  }
}

/** Sends a request; `failures` holds what fails it when the connection breaks meanwhile. */
export const requestOver = (
  connection: ManagedConnection,
  failures: Set<FailRequest>,
  options: RequestOptions
): Effect.Effect<Reply, MessagingError> =>
  Effect.callback<Reply, MessagingError>((resume) => {
    const { subject } = options
    const prepared = prepare(connection, options)
    if (Result.isFailure(prepared)) return resume(Effect.fail(prepared.failure))
    const milliseconds = Duration.toMillis(Duration.fromInputUnsafe(options.deadline))
    const fail: FailRequest = (error) => resume(Effect.fail(error(subject)))
    failures.add(fail)
    connection.native
      .request(subject, options.data, {
        timeout: Math.max(1, Math.min(longestTimer, Math.ceil(milliseconds))),
        ...prepared.success
      })
      .then(
        (message) => resume(replyOf(subject, message)),
        (thrown: unknown) => resume(Effect.fail(toMessagingError(subject, thrown)))
      )
      .finally(() => failures.delete(fail))
    return Effect.sync(() => failures.delete(fail))
  })

const replyOf = (subject: string, message: Msg): Effect.Effect<Reply, MessagingError> => {
  const { headerBlock, data } = bytesOf(message)
  const headers = decodeTextHeaders(headerBlock)
  const refusal = refusalError(subject, headers)
  return refusal === undefined ? Effect.succeed({ headers, data }) : Effect.fail(refusal)
}

/** Hands a message to the connection. */
export const publishOver = (
  connection: ManagedConnection,
  message: PublishOptions
): Effect.Effect<void, MessagingError> =>
  Effect.suspend(() => {
    const prepared = prepare(connection, message)
    if (Result.isFailure(prepared)) return Effect.fail(prepared.failure)
    return Effect.try({
      try: () => connection.native.publish(message.subject, message.data, prepared.success),
      catch: (thrown) => toMessagingError(message.subject, thrown)
    })
  })

/** Replies; one that cannot be sent is replaced by a refusal that says so. */
export const replyOver = (
  connection: ManagedConnection,
  message: Msg,
  reply: Reply
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const headers = encodeTextHeaders(reply.headers)
    if (Result.isFailure(headers)) return refuseOver(connection, message, "reply-invalid")
    const size = (headers.success?.length ?? 0) + reply.data.length
    if (size > maxPayloadOf(connection)) {
      return refuseOver(connection, message, "reply-too-large")
    }
    return respond(connection, message, reply.data, headers.success)
  })

/** Tells a requester that its message is not answered, and why. */
export const refuseOver = (
  connection: ManagedConnection,
  message: Msg,
  refusal: Refusal
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const headers = Result.getOrThrow(encodeTextHeaders(refusalHeaders(refusal)))
    return respond(connection, message, new Uint8Array(0), headers)
  })

/** Without a connection the requester's side has failed already, so nothing is lost. */
const respond = (
  connection: ManagedConnection,
  message: Msg,
  data: Uint8Array,
  block: Uint8Array | undefined
): Effect.Effect<void> =>
  Effect.sync(() => {
    if (connection.native.isClosed()) return
    message.respond(data, block === undefined ? {} : { headers: new EncodedHeaders(block) })
  })
