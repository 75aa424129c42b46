/**
 * Messaging on NATS; the promises are the port's. Beyond them:
 *
 * 1. A request that is under way when the connection breaks fails at once as `disconnected`; its
 *    responder may have acted, so a retry must carry the same request id.
 * 2. `serve` and `subscribe` return when the server knows of the subscription; after a reconnect
 *    it is made again by itself.
 * 3. A subject that this client may not use fails as `denied`, at `serve` and at `request`.
 *    A publish that the server refuses is only logged: NATS says so later, and not which one.
 */
import type { Msg } from "@nats-io/transport-node"
import { Messaging, type Reply } from "@holdfast/messaging"
import { Duration, Effect, Layer, Metric } from "effect"
import { NatsConnections } from "./connections.ts"
import { makeListen } from "./listen.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { closedError, disconnectedError } from "./message-error.ts"
import {
  type FailRequest,
  maxPayloadOf,
  publishOver,
  refuseOver,
  replyOver,
  requestOver
} from "./send.ts"

/** How patient the listeners are. */
export interface NatsMessagingOptions {
  /** How long a closing listener waits for its handlers before it interrupts them. Default 5 s. */
  readonly drainDeadline?: Duration.Input
}

/** Messaging on the control connection. */
export const natsMessagingLayer = (
  options: NatsMessagingOptions = {}
): Layer.Layer<Messaging, never, NatsConnections> =>
  Layer.effect(
    Messaging,
    Effect.gen(function* () {
      const { control } = yield* NatsConnections
      // Shown from the start: what has not happened yet is 0, not absent.
      yield* Metric.value(dropped)
      return makeNatsMessaging(control, options)
    })
  )

const dropped = Metric.counter("holdfast_messaging_dropped_total", {
  description: "published messages that a full backlog refused",
  incremental: true
})

/** Messaging over one connection. */
export const makeNatsMessaging = (
  connection: ManagedConnection,
  options: NatsMessagingOptions = {}
): Messaging["Service"] => {
  const drainDeadline = Duration.fromInputUnsafe(options.drainDeadline ?? "5 seconds")
  const failures = new Set<FailRequest>()
  connection.onChange((state) => {
    if (state === "connected") return
    const error = state === "closed" ? closedError : disconnectedError
    for (const fail of failures) fail(error)
    failures.clear()
  })
  const listen = makeListen(connection, drainDeadline)
  return Messaging.of({
    request: (request) => requestOver(connection, failures, request),
    publish: (message) => publishOver(connection, message),
    serve: (listenOptions, handler) =>
      listen(listenOptions, {
        handle: (message, incoming) =>
          answerWith(
            connection,
            message,
            Effect.suspend(() => handler(incoming))
          ),
        refuse: (message) => refuseOver(connection, message, "overloaded")
      }),
    subscribe: (listenOptions, handler) =>
      listen(listenOptions, {
        handle: (_message, incoming) =>
          surviving(
            incoming.subject,
            Effect.suspend(() => handler(incoming))
          ),
        refuse: () => Metric.update(dropped, 1)
      }),
    maxPayloadBytes: maxPayloadOf(connection),
    state: Effect.sync(connection.state),
    states: connection.states
  })
}

const surviving = (subject: string, handling: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchCause(handling, (cause) =>
    Effect.logWarning(`a handler of ${subject} died; its message is lost`, cause)
  )

const answerWith = (
  connection: ManagedConnection,
  message: Msg,
  handling: Effect.Effect<Reply>
): Effect.Effect<void> =>
  handling.pipe(
    Effect.flatMap((reply) => replyOver(connection, message, reply)),
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logWarning(`a handler of ${message.subject} died`, cause),
        refuseOver(connection, message, "failed")
      )
    )
  )
