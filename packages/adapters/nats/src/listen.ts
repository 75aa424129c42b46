/** The listening side: subscriptions whose handlers are bounded and drained. */
import type { Msg, Subscription } from "@nats-io/transport-node"
import type { IncomingMessage, ListenOptions, MessagingError } from "@holdfast/messaging"
import { Context, Duration, Effect, Scope } from "effect"
import { type Listener, makeListener } from "./listener.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { bytesOf } from "./message-bytes.ts"
import { closedError, deniedError, messagingError } from "./message-error.ts"
import { listenFault } from "./subject.ts"
import { decodeTextHeaders } from "./text-headers.ts"

const subscribeDeadline = Duration.seconds(5)

/** What is done with a message that is taken, and with one that is not. */
export interface Reactions {
  readonly handle: (message: Msg, incoming: IncomingMessage) => Effect.Effect<void>
  readonly refuse: (message: Msg) => Effect.Effect<void>
}

/** Makes the function that subscribes; the subscription lives until the scope closes. */
export const makeListen = (connection: ManagedConnection, drainDeadline: Duration.Duration) =>
  Effect.fnUntraced(function* (options: ListenOptions, reactions: Reactions) {
    const { subject, concurrency, backlog } = options
    const fault = listenFault(subject) ?? queueFault(options.queue) ?? boundFault(options)
    if (fault !== undefined) return yield* messagingError("invalid", subject, fault)
    if (connection.state() === "closed") return yield* closedError(subject)
    const context = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
    const listener = makeListener<Msg>({
      concurrency,
      backlog,
      context,
      handle: (message) => Effect.suspend(() => reactions.handle(message, incomingOf(message)))
    })
    const fork = Effect.runForkWith(context)
    let denied = false
    const subscribe = Effect.sync(() =>
      connection.native.subscribe(subject, {
        ...(options.queue === undefined ? {} : { queue: options.queue }),
        callback: (thrown, message) => {
          if (thrown !== null) denied = true
          else if (!listener.offer(message)) fork(reactions.refuse(message))
        }
      })
    )
    yield* Effect.acquireRelease(subscribe, (subscription) =>
      unsubscribe(subscription, listener, drainDeadline)
    )
    yield* awaitServer(connection, subject)
    if (denied) return yield* deniedError(subject)
  })

/** A round trip: what was sent before has reached the server, and its complaints have come. */
const awaitServer = (
  connection: ManagedConnection,
  subject: string
): Effect.Effect<void, MessagingError> =>
  Effect.tryPromise(() => connection.native.flush()).pipe(
    // The subscription is sent again by itself once the connection is back.
    Effect.catch(() => Effect.void),
    Effect.timeoutOrElse({
      duration: subscribeDeadline,
      orElse: () =>
        connection.state() === "connected"
          ? Effect.fail(messagingError("timeout", subject, "the server did not confirm in time"))
          : Effect.void
    })
  )

/** No new messages, then the taken ones are handled; each step has the deadline to itself. */
const unsubscribe = (
  subscription: Subscription,
  listener: Listener<Msg>,
  deadline: Duration.Duration
): Effect.Effect<void> =>
  Effect.suspend(() =>
    subscription.isClosed() ? Effect.void : Effect.tryPromise(() => subscription.drain())
  ).pipe(
    Effect.timeout(deadline),
    Effect.catch((error) => Effect.logDebug("a subscription was not drained", error)),
    Effect.andThen(listener.drain(deadline))
  )

const queueFault = (queue: string | undefined): string | undefined =>
  queue === undefined || /^[^\s]{1,255}$/.test(queue)
    ? undefined
    : "a queue group is 1 to 255 characters without spaces"

const boundFault = (options: ListenOptions): string | undefined =>
  options.concurrency >= 1 && options.backlog >= 0
    ? undefined
    : "the concurrency is at least 1 and the backlog at least 0"

const incomingOf = (message: Msg): IncomingMessage => {
  const { headerBlock, data } = bytesOf(message)
  return { subject: message.subject, headers: decodeTextHeaders(headerBlock), data }
}
