/** Serves an operation over Messaging; see the operation module for the envelope. */
import { Cause, Duration, Effect, Exit, Option, Result, Schema, type Scope } from "effect"
import {
  type IncomingMessage,
  Messaging,
  type MessagingError,
  type Reply
} from "@holdfast/messaging"
import { decodeFrame, encodeFrame } from "./frame.ts"
import { headerNames, type Operation, protocolVersion, subjectOf } from "./operation.ts"
import { makeRequestId } from "./request-id.ts"
import { ServiceError } from "./service-error.ts"

/** What a handler is told beside the request. */
export interface RequestContext {
  /** The caller's, or a fresh one when the message had none. */
  readonly requestId: string
  readonly sender: Option.Option<string>
  readonly epoch: Option.Option<number>
  /** What the caller still waits for; none when it did not say. */
  readonly deadline: Option.Option<Duration.Duration>
  readonly attachment: Uint8Array
}

/** A handler's answer; a bare response or one with bytes behind it. */
export interface Answer<Response> {
  readonly response: Response
  readonly attachment?: Uint8Array
}

/** How an operation is served. */
export interface ServeOptions<Request, Response> {
  readonly cluster: string
  /** Serve as this instance; absent to share the service's subject with its other instances. */
  readonly instance?: string
  readonly concurrency: number
  readonly backlog: number
  readonly handler: (
    request: Request,
    context: RequestContext
  ) => Effect.Effect<Answer<Response>, ServiceError>
}

/** Serves an operation until the scope closes. */
export const serveOperation = <Request, Response>(
  operation: Operation<Request, Response>,
  options: ServeOptions<Request, Response>
): Effect.Effect<void, MessagingError, Messaging | Scope.Scope> =>
  Effect.gen(function* () {
    const messaging = yield* Messaging
    const answer = makeResponder(operation, options.handler)
    const subject = subjectOf({
      cluster: options.cluster,
      service: operation.service,
      operation: operation.name,
      ...(options.instance === undefined ? {} : { instance: options.instance })
    })
    yield* messaging.serve(
      {
        subject,
        ...(options.instance === undefined ? { queue: operation.service } : {}),
        concurrency: options.concurrency,
        backlog: options.backlog
      },
      answer
    )
  })

const makeResponder = <Request, Response>(
  operation: Operation<Request, Response>,
  handler: ServeOptions<Request, Response>["handler"]
): ((message: IncomingMessage) => Effect.Effect<Reply>) => {
  const decodeRequest = Schema.decodeUnknownResult(
    Schema.fromJsonString(Schema.toCodecJson(operation.request))
  )
  const encodeResponse = Schema.encodeSync(Schema.toCodecJson(operation.response))
  const answer = Effect.fnUntraced(function* (
    message: IncomingMessage
  ): Effect.fn.Return<Uint8Array, ServiceError> {
    const protocol = message.headers[headerNames.protocol]
    if (protocol !== undefined && protocol !== String(protocolVersion)) {
      return yield* new ServiceError({
        code: "unsupported-protocol",
        message: `this service speaks protocol ${protocolVersion}, not ${protocol}`
      })
    }
    const frame = Option.getOrUndefined(decodeFrame(message.data))
    if (frame === undefined) return yield* invalid("the message is not a frame")
    const request = decodeRequest(frame.json)
    if (Result.isFailure(request)) return yield* invalid(request.failure.message)
    const requestId = message.headers[headerNames.requestId] ?? (yield* makeRequestId)
    const context = contextOf(message, requestId, frame.attachment)
    const result = yield* handler(request.success, context)
    const ok = encodeResponse(result.response)
    return encodeFrame({
      json: JSON.stringify({ ok }),
      ...(result.attachment === undefined ? {} : { attachment: result.attachment })
    })
  })
  return (message) =>
    Effect.map(Effect.exit(answer(message)), (exit) => ({
      headers: {},
      data: Exit.isSuccess(exit) ? exit.value : encodeFailure(exit.cause)
    }))
}

const invalid = (message: string) =>
  Effect.fail(new ServiceError({ code: "invalid-request", message }))

const contextOf = (
  message: IncomingMessage,
  requestId: string,
  attachment: Uint8Array
): RequestContext => ({
  requestId,
  sender: Option.fromUndefinedOr(message.headers[headerNames.sender]),
  epoch: naturalHeader(message, headerNames.epoch),
  deadline: Option.map(naturalHeader(message, headerNames.deadlineMs), Duration.millis),
  attachment
})

const naturalHeader = (message: IncomingMessage, name: string): Option.Option<number> => {
  const text = message.headers[name]
  if (text === undefined || !/^\d{1,15}$/.test(text)) return Option.none()
  return Option.some(Number(text))
}

/** The reply for a failed handler: its own error, or `internal` for one that died. */
const encodeFailure = (cause: Cause.Cause<ServiceError>): Uint8Array => {
  const error = Option.getOrElse(
    Cause.findErrorOption(cause),
    () =>
      new ServiceError({
        code: Cause.hasInterruptsOnly(cause) ? "shutting-down" : "internal",
        message: Cause.hasInterruptsOnly(cause)
          ? "the service is shutting down; ask another one"
          : `the service failed on this request: ${String(Cause.squash(cause))}`
      })
  )
  const body = {
    code: error.code,
    message: error.message,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs })
  }
  return encodeFrame({ json: JSON.stringify({ error: body }) })
}
