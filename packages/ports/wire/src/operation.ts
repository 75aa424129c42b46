/**
 * An operation: one request that a service answers, with the schemas of both sides.
 *
 *     subject   holdfast.<cluster>.<service>.<operation>           any instance (queue group)
 *               holdfast.<cluster>.<service>.<id>.<operation>      one instance
 *     headers   Holdfast-Protocol, -Request-Id, -Sender, -Epoch, -Deadline-Ms; all may be absent
 *     request   the JSON of the request schema, and an attachment where the operation has one
 *     reply     {"ok": response} or {"error": {code, message, retryAfterMs?}}
 *
 * 1. A handler sees only what its schema accepted; anything else is answered `invalid-request`.
 * 2. A handler that dies is answered `internal`; the service lives.
 * 3. A caller gets a decoded response or one of three typed errors, within its deadline.
 */
import type { Schema } from "effect"

/** The protocol version that every message carries. */
export const protocolVersion = 1

/** The services that answer operations. */
export type ServiceName = "metadata" | "chunk-server" | "peer" | "worker" | "spool"

/** A schema whose encoded side is JSON after `Schema.toCodecJson`, and that needs no services. */
export type WireSchema<A> = Schema.Codec<A, unknown>

/** An operation of a service. */
export interface Operation<Request, Response> {
  readonly service: ServiceName
  readonly name: string
  readonly request: WireSchema<Request>
  readonly response: WireSchema<Response>
}

/** Declares an operation; the name becomes the last token of its subject. */
export const operation = <Request, Response>(
  declaration: Operation<Request, Response>
): Operation<Request, Response> => declaration

/** The subject of an operation, of any instance or of the one named. */
export const subjectOf = (options: {
  readonly cluster: string
  readonly service: ServiceName
  readonly operation: string
  readonly instance?: string
}): string =>
  options.instance === undefined
    ? `holdfast.${options.cluster}.${options.service}.${options.operation}`
    : `holdfast.${options.cluster}.${options.service}.${options.instance}.${options.operation}`

/** The headers of a request. */
export const headerNames = {
  protocol: "Holdfast-Protocol",
  requestId: "Holdfast-Request-Id",
  sender: "Holdfast-Sender",
  epoch: "Holdfast-Epoch",
  deadlineMs: "Holdfast-Deadline-Ms"
} as const
