/** A node's Messaging on a memory network; the promises are the port's. */
import type {
  ConnectionState,
  Headers,
  IncomingMessage,
  ListenOptions,
  Messaging,
  Reply
} from "@holdfast/messaging"
import { MessagingError, type MessagingErrorCode } from "@holdfast/messaging"
import { Cause, Context, Deferred, Effect, Scope, SubscriptionRef } from "effect"
import { type Listener, makeListener } from "./listener.ts"
import { type Network, type Node, type NodeEndpoint, route } from "./network.ts"
import { firstInvalidHeader, payloadBytes } from "./payload.ts"
import { isLiteralSubject, isSubjectPattern } from "./subject.ts"

interface Outgoing {
  readonly subject: string
  readonly headers?: Headers
  readonly data: Uint8Array
}

type Answer = Deferred.Deferred<Reply, MessagingError>

const failure = (code: MessagingErrorCode, subject: string, message: string): MessagingError =>
  new MessagingError({ code, subject, message })

/** An endpoint's own state: its connection, its listeners and the requests it waits for. */
interface Endpoint {
  readonly network: Network
  readonly node: Node
  state: ConnectionState
  readonly states: SubscriptionRef.SubscriptionRef<ConnectionState>
  readonly pending: Map<Answer, string>
  readonly listeners: Set<Listener>
}

/** Why a message cannot be sent from here now, or undefined. */
const refusal = (endpoint: Endpoint, outgoing: Outgoing): MessagingError | undefined => {
  const { subject, data } = outgoing
  const headers = outgoing.headers ?? {}
  if (!isLiteralSubject(subject)) {
    return failure("invalid", subject, "a subject is non-empty tokens without wildcards")
  }
  const invalidHeader = firstInvalidHeader(headers)
  if (invalidHeader !== undefined) {
    return failure("invalid", subject, `the header ${JSON.stringify(invalidHeader)} cannot be sent`)
  }
  const bytes = payloadBytes(headers, data)
  const { maxPayloadBytes } = endpoint.network
  if (bytes > maxPayloadBytes) {
    const message = `a payload of ${bytes} bytes is over the limit of ${maxPayloadBytes}`
    return failure("too-large", subject, message)
  }
  switch (endpoint.state) {
    case "connected":
      return undefined
    case "reconnecting":
      return failure("disconnected", subject, "the node is cut off; try again when it is back")
    case "closed":
      return failure("closed", subject, "this endpoint was shut down")
  }
}

/** What the subject of a reply begins with in the trace. */
const replyPrefix = "_reply."

/** Sends a request's answer back over the link; a refusal travels as its error. */
const answerOver = (
  network: Network,
  listener: Listener,
  requester: { readonly node: string; readonly message: number; readonly subject: string },
  answer: Answer
) => {
  return (outcome: Effect.Effect<Reply, MessagingError>): void => {
    const { message } = requester
    const subject = `${replyPrefix}${requester.subject}`
    network.note({ kind: "reply", from: listener.node, to: requester.node, subject, message })
    network.links.transmit({
      from: listener.node,
      to: requester.node,
      subject,
      message,
      arrive: () => {
        if (network.node(requester.node).isConnected) Deferred.doneUnsafe(answer, outcome)
      }
    })
  }
}

const checkedReply = (
  network: Network,
  subject: string,
  reply: Reply
): Effect.Effect<Reply, MessagingError> => {
  const bytes = payloadBytes(reply.headers, reply.data)
  if (bytes <= network.maxPayloadBytes) return Effect.succeed(reply)
  const message = `a reply of ${bytes} bytes is over the limit of ${network.maxPayloadBytes}`
  return Effect.fail(failure("too-large", subject, message))
}

/** Hands a message to the links for each listener; answers whether there was any. */
const send = (endpoint: Endpoint, outgoing: Outgoing, answer: Answer | undefined): boolean => {
  const { network, node } = endpoint
  const { subject } = outgoing
  const message = network.nextMessage++
  const incoming: IncomingMessage = {
    subject,
    headers: { ...outgoing.headers },
    data: outgoing.data.slice()
  }
  const noted = { from: node.name, subject, message }
  network.note({ kind: answer === undefined ? "publish" : "request", to: "", ...noted })
  const targets = route(network, subject)
  if (targets.length === 0) network.note({ kind: "unheard", to: "", ...noted })
  for (const listener of targets) {
    const respond =
      answer && answerOver(network, listener, { node: node.name, message, subject }, answer)
    const arrive = (): void => {
      const to = listener.node
      if (!listener.isOpen() || !network.node(to).isConnected) {
        return network.note({ kind: "unheard", to, ...noted })
      }
      const reply = (value: Reply) => respond?.(checkedReply(network, subject, value))
      if (listener.offer({ message: incoming, reply })) return
      network.note({ kind: "overloaded", to, ...noted })
      respond?.(Effect.fail(failure("overloaded", subject, `the backlog of ${to} is full`)))
    }
    network.links.transmit({ ...noted, to: listener.node, arrive })
  }
  return targets.length > 0
}

const request = (endpoint: Endpoint): Messaging["Service"]["request"] =>
  Effect.fnUntraced(function* (options) {
    const refused = refusal(endpoint, options)
    if (refused !== undefined) return yield* refused
    const { subject } = options
    const answer: Answer = Deferred.makeUnsafe()
    endpoint.pending.set(answer, subject)
    if (!send(endpoint, options, answer)) {
      endpoint.pending.delete(answer)
      return yield* failure("no-responders", subject, "nobody serves this subject now")
    }
    const orElse = () => Effect.fail(failure("timeout", subject, "no reply came by the deadline"))
    return yield* Deferred.await(answer).pipe(
      Effect.timeoutOrElse({ duration: options.deadline, orElse }),
      Effect.ensuring(Effect.sync(() => endpoint.pending.delete(answer)))
    )
  })

const publish = (endpoint: Endpoint): Messaging["Service"]["publish"] =>
  Effect.fnUntraced(function* (options) {
    const refused = refusal(endpoint, options)
    if (refused !== undefined) return yield* refused
    send(endpoint, options, undefined)
  })

const logDeath = <A>(options: ListenOptions, handling: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.tapCause(handling, (cause) =>
    Cause.hasDies(cause)
      ? Effect.logWarning(`a handler of ${options.subject} died`, cause)
      : Effect.void
  )

const listen = (endpoint: Endpoint) =>
  Effect.fnUntraced(function* (
    options: ListenOptions,
    handler: (message: IncomingMessage) => Effect.Effect<Reply | void>
  ) {
    const { network, node } = endpoint
    const { subject, concurrency, backlog } = options
    if (!isSubjectPattern(subject)) {
      return yield* failure("invalid", subject, "not a subject, nor a pattern of one")
    }
    if (!(concurrency >= 1 && backlog >= 0)) {
      return yield* failure("invalid", subject, "concurrency is at least 1, backlog at least 0")
    }
    if (endpoint.state === "closed") {
      return yield* failure("closed", subject, "this endpoint was shut down")
    }
    const context = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
    const listener = makeListener({
      node: node.name,
      options,
      context,
      handler: (message) => logDeath(options, handler(message))
    })
    network.listeners.add(listener)
    endpoint.listeners.add(listener)
    yield* Effect.addFinalizer(() => {
      network.listeners.remove(listener)
      return Effect.ensuring(
        listener.drain,
        Effect.sync(() => endpoint.listeners.delete(listener))
      )
    })
  })

const close = (endpoint: Endpoint): Effect.Effect<void> =>
  Effect.suspend(() => {
    for (const [answer, subject] of endpoint.pending) {
      const error = failure("closed", subject, "this endpoint was shut down")
      Deferred.doneUnsafe(answer, Effect.fail(error))
    }
    return changeState(endpoint, "closed")
  })

/** Closed is final; the plain field is what decides, at once, the reference is for watchers. */
const changeState = (endpoint: Endpoint, state: ConnectionState): Effect.Effect<void> => {
  if (endpoint.state !== "closed") endpoint.state = state
  return SubscriptionRef.set(endpoint.states, endpoint.state)
}

/** Makes a node's Messaging; it closes with the scope. */
export const makeEndpoint = Effect.fnUntraced(function* (network: Network, node: Node) {
  const context = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
  const connection = (): ConnectionState => (node.isConnected ? "connected" : "reconnecting")
  const states = yield* SubscriptionRef.make(connection())
  const endpoint: Endpoint = {
    network,
    node,
    state: connection(),
    states,
    pending: new Map(),
    listeners: new Set()
  }
  const run = Effect.runForkWith(context)
  const nodeEndpoint: NodeEndpoint = {
    crash: () => {
      for (const listener of endpoint.listeners) {
        network.listeners.remove(listener)
        listener.kill()
      }
      run(close(endpoint))
    },
    connectionChanged: () => {
      run(changeState(endpoint, connection()))
    }
  }
  node.endpoints.add(nodeEndpoint)
  yield* Effect.addFinalizer(() => {
    node.endpoints.delete(nodeEndpoint)
    return close(endpoint)
  })
  const listenHere = listen(endpoint)
  const service: Messaging["Service"] = {
    request: request(endpoint),
    publish: publish(endpoint),
    serve: listenHere,
    subscribe: listenHere,
    maxPayloadBytes: network.maxPayloadBytes,
    state: Effect.sync(() => endpoint.state),
    states: SubscriptionRef.changes(states)
  }
  return service
})
