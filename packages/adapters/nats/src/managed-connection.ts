/**
 * One connection to NATS whose state is known at any moment.
 *
 *     connect within a deadline ──▶ connected ⇄ reconnecting ──▶ closed (drained at scope end)
 *
 * 1. The first connection succeeds or fails with a typed error within its deadline.
 * 2. A lost connection is retried for ever; meanwhile the state says `reconnecting`, because the
 *    client library drops what is published then without a word.
 * 3. A dead server behind a live socket is noticed within three ping intervals.
 * 4. Closing drains for at most the close deadline, then closes.
 */
import { connect, createInbox, type NatsConnection, type Status } from "@nats-io/transport-node"
import type { ConnectionState } from "@holdfast/messaging"
import { Effect, Queue, type Scope, Stream } from "effect"
import { deadlinesOf, type NatsOptions, toConnectionOptions } from "./nats-options.ts"
import { isRefusal, NatsError, textOf } from "./nats-error.ts"
import { requireServerVersion } from "./server-version.ts"

/** A connection and what is known of it. */
export interface ManagedConnection {
  /** The client library's connection. */
  readonly native: NatsConnection
  /** A subject for replies to this connection that no one else uses. */
  readonly newInbox: () => string
  /** The state now. */
  readonly state: () => ConnectionState
  /** Calls back at each change of state until the returned function is called. */
  readonly onChange: (listener: (state: ConnectionState) => void) => () => void
  /** The state now and each change of it. */
  readonly states: Stream.Stream<ConnectionState>
}

/** Connects; the connection lives until the scope closes. */
export const openConnection = Effect.fn("Nats.openConnection")(function* (
  options: NatsOptions,
  name: string
): Effect.fn.Return<ManagedConnection, NatsError, Scope.Scope> {
  const deadlines = deadlinesOf(options)
  const native = yield* Effect.acquireRelease(dial(options, name), (connection) =>
    closeConnection(connection, deadlines.close)
  )
  yield* requireServerVersion(native)
  const tracker = makeStateTracker()
  yield* watchStatus(native, tracker.change).pipe(Effect.forkScoped({ startImmediately: true }))
  yield* Effect.addFinalizer(() => Effect.sync(() => tracker.change("closed")))
  return { native, newInbox: () => createInbox(options.inboxPrefix), ...tracker }
})

const dial = (options: NatsOptions, name: string): Effect.Effect<NatsConnection, NatsError> => {
  const servers = options.servers.join(", ")
  return Effect.tryPromise({
    try: (signal) => connectUnlessAborted(options, name, signal),
    catch: (thrown) => connectError(servers, thrown)
  }).pipe(
    Effect.timeoutOrElse({
      duration: deadlinesOf(options).connect,
      orElse: () =>
        Effect.fail(
          new NatsError({
            code: "unreachable",
            message:
              `NATS at ${servers} did not answer in time; ` +
              "is the server running there, and does it demand a client certificate?"
          })
        )
    })
  )
}

/** A connection that arrives after its deadline is closed instead of leaked. */
const connectUnlessAborted = async (
  options: NatsOptions,
  name: string,
  signal: AbortSignal
): Promise<NatsConnection> => {
  const connection = await connect(toConnectionOptions(options, name))
  if (signal.aborted) await connection.close()
  return connection
}

const connectError = (servers: string, thrown: unknown): NatsError => {
  if (isRefusal(thrown)) {
    return new NatsError({
      code: "denied",
      message:
        `NATS at ${servers} refused this client: ${textOf(thrown)}; ` +
        "check the credentials file, nkey, token or user and password"
    })
  }
  const text = textOf(thrown)
  if (/ENOENT|EACCES|doesn't exist|unable to parse|invalid (seed|encoding|nkey)/i.test(text)) {
    return new NatsError({
      code: "invalid",
      message: `the options for NATS at ${servers} cannot be used: ${text}`
    })
  }
  return new NatsError({
    code: "unreachable",
    message: `NATS at ${servers} cannot be reached: ${text}; is the server running there?`
  })
}

const closeConnection = (
  connection: NatsConnection,
  deadline: ReturnType<typeof deadlinesOf>["close"]
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (connection.isClosed()) return Effect.void
    const drained = Effect.tryPromise(() => connection.drain()).pipe(
      Effect.timeout(deadline),
      Effect.catch((error) => Effect.logDebug("NATS connection was not drained", error))
    )
    const closed = Effect.promise(() => connection.close()).pipe(
      Effect.timeoutOption(deadline),
      Effect.asVoid
    )
    return Effect.andThen(drained, closed)
  })

/** Keeps the state and tells its listeners; a listener must not throw. */
const makeStateTracker = () => {
  let current: ConnectionState = "connected"
  const listeners = new Set<(state: ConnectionState) => void>()
  const onChange = (listener: (state: ConnectionState) => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const change = (state: ConnectionState): void => {
    if (current === state || current === "closed") return
    current = state
    for (const listener of listeners) listener(state)
  }
  const states = Stream.callback<ConnectionState>(
    (queue) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const offer = (state: ConnectionState): void => {
            Queue.offerUnsafe(queue, state)
            if (state === "closed") Queue.endUnsafe(queue)
          }
          const remove = onChange(offer)
          offer(current)
          return remove
        }),
        (remove) => Effect.sync(remove)
      ),
    // Only the newest states matter to a reader that fell behind.
    { bufferSize: 64, strategy: "sliding" }
  )
  return { state: () => current, change, onChange, states }
}

const watchStatus = (
  connection: NatsConnection,
  change: (state: ConnectionState) => void
): Effect.Effect<void> =>
  Stream.fromAsyncIterable(connection.status(), (thrown) => thrown).pipe(
    Stream.runForEach((status) => applyStatus(status, change)),
    Effect.catch((thrown) => Effect.logWarning("the status of NATS cannot be followed", thrown)),
    Effect.andThen(Effect.sync(() => change("closed")))
  )

const applyStatus = (
  status: Status,
  change: (state: ConnectionState) => void
): Effect.Effect<void> => {
  switch (status.type) {
    case "disconnect":
    case "reconnecting":
    case "staleConnection":
    case "forceReconnect":
      change("reconnecting")
      return Effect.logDebug(`NATS connection: ${status.type}`)
    case "reconnect":
      change("connected")
      return Effect.logInfo(`connected to NATS again at ${status.server}`)
    case "close":
      change("closed")
      return Effect.void
    case "error":
      return Effect.logWarning(`NATS reports: ${status.error.message}`)
    case "ldm":
      return Effect.logInfo(`the NATS server ${status.server} is about to shut down`)
    case "slowConsumer":
      return Effect.logWarning(`slow consumer of ${status.sub.getSubject()}`)
    case "update":
    case "ping":
      return Effect.void
  }
}
