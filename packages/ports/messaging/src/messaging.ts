/**
 * The Messaging port: control messages between services.
 *
 *     request ──▶ subject ──▶ one responder (of a queue group) ──▶ reply
 *     publish ──▶ subject ──▶ every subscriber, at most once
 *
 * What a caller may rely on, whatever the adapter:
 * 1. A request ends within its deadline: with a reply or with a typed error.
 * 2. Delivery is at most once; a lost message is normal, a repeat is the sender's own retry.
 * 3. A message over `maxPayloadBytes` is refused before anything is sent.
 * 4. A responder takes at most `concurrency` messages at a time and holds at most `backlog` more;
 *    the next one is answered `overloaded` at once (requests) or dropped and counted (publishes).
 * 5. While disconnected, requests and publishes fail at once instead of waiting for a broker.
 * 6. A handler that dies fails its own message alone.
 */
import type { Duration, Effect, Scope, Stream } from "effect"
import { Context } from "effect"
import type { MessagingError } from "./messaging-error.ts"

/** Header names to values; names are compared as written. */
export type Headers = Readonly<Record<string, string>>

/** One message as its handler sees it. */
export interface IncomingMessage {
  readonly subject: string
  readonly headers: Headers
  readonly data: Uint8Array
}

/** What a responder sends back, and what a requester gets. */
export interface Reply {
  readonly headers: Headers
  readonly data: Uint8Array
}

/** A request: `deadline` bounds the whole exchange. */
export interface RequestOptions {
  readonly subject: string
  readonly headers?: Headers
  readonly data: Uint8Array
  readonly deadline: Duration.Input
}

/** A message that nobody answers. */
export interface PublishOptions {
  readonly subject: string
  readonly headers?: Headers
  readonly data: Uint8Array
}

/** How a responder or subscriber listens. */
export interface ListenOptions {
  /** A literal subject, or one that ends in `.>` (any further tokens) or has `*` for one token. */
  readonly subject: string
  /** Members of one queue group share the messages of a subject: each goes to one of them. */
  readonly queue?: string
  /** Messages handled at a time, at least 1. */
  readonly concurrency: number
  /** Messages held beyond those being handled, at least 0. */
  readonly backlog: number
}

/** Whether the transport can carry messages now. */
export type ConnectionState = "connected" | "reconnecting" | "closed"

/** Sends and serves control messages; see the module comment for the promises. */
export class Messaging extends Context.Service<
  Messaging,
  {
    /** Sends a request and waits for its reply. */
    readonly request: (options: RequestOptions) => Effect.Effect<Reply, MessagingError>
    /** Sends a message to whoever listens; success means handed to the transport, no more. */
    readonly publish: (options: PublishOptions) => Effect.Effect<void, MessagingError>
    /** Answers requests until the scope closes; closing waits for the handlers that run. */
    readonly serve: (
      options: ListenOptions,
      handler: (message: IncomingMessage) => Effect.Effect<Reply>
    ) => Effect.Effect<void, MessagingError, Scope.Scope>
    /** Takes published messages until the scope closes. */
    readonly subscribe: (
      options: ListenOptions,
      handler: (message: IncomingMessage) => Effect.Effect<void>
    ) => Effect.Effect<void, MessagingError, Scope.Scope>
    /** The largest payload, headers included, that the transport carries. */
    readonly maxPayloadBytes: number
    /** The state now. */
    readonly state: Effect.Effect<ConnectionState>
    /** The state now and each change of it. */
    readonly states: Stream.Stream<ConnectionState>
  }
>()("@holdfast/messaging/Messaging") {}
