/** Calls an operation over Messaging; see the operation module for the envelope. */
import { Duration, Effect, Option, Schema, Struct } from "effect"
import { Messaging, type MessagingError } from "@holdfast/messaging"
import { decodeFrame, encodeFrame } from "./frame.ts"
import { headerNames, type Operation, protocolVersion, subjectOf } from "./operation.ts"
import { ProtocolError, ServiceError } from "./service-error.ts"

/** How to call: whom, for how long, and under which name. */
export interface CallOptions<Request> {
  readonly cluster: string
  /** One instance by its id; absent for any instance of the service. */
  readonly instance?: string
  readonly request: Request
  readonly attachment?: Uint8Array
  readonly deadline: Duration.Input
  /** The same id in a retry makes the service act once. */
  readonly requestId: string
  /** Who asks: a peer, host or worker id. */
  readonly sender?: string
  /** The sender's cluster epoch. */
  readonly epoch?: number
}

/** A response and the bytes that came with it. */
export interface CallResult<Response> {
  readonly response: Response
  readonly attachment: Uint8Array
}

/** What a call may fail with. */
export type CallError = ServiceError | MessagingError | ProtocolError

/** The JSON form of a reply. */
const replySchema = <Response>(response: Schema.Codec<Response, unknown>) =>
  Schema.fromJsonString(
    Schema.toCodecJson(
      Schema.Union([Schema.Struct({ ok: response }), Schema.Struct({ error: ServiceErrorBody })])
    )
  )

const ServiceErrorBody = Schema.Struct(ServiceError.fields).mapFields(Struct.omit(["_tag"]))

/** Prepares the caller of one operation: its codecs are built once. */
export const makeCaller = <Request, Response>(operation: Operation<Request, Response>) => {
  const encodeRequest = Schema.encodeEffect(
    Schema.fromJsonString(Schema.toCodecJson(operation.request))
  )
  const decodeReply = Schema.decodeUnknownEffect(replySchema(operation.response))
  return Effect.fnUntraced(function* (
    options: CallOptions<Request>
  ): Effect.fn.Return<CallResult<Response>, CallError, Messaging> {
    const messaging = yield* Messaging
    const subject = subjectOf({
      cluster: options.cluster,
      service: operation.service,
      operation: operation.name,
      ...(options.instance === undefined ? {} : { instance: options.instance })
    })
    const malformed = (message: string) => new ProtocolError({ subject, message })
    const json = yield* encodeRequest(options.request).pipe(
      Effect.mapError((error) => malformed(`the request cannot be encoded: ${error.message}`))
    )
    const reply = yield* messaging.request({
      subject,
      headers: requestHeaders(options),
      data: encodeFrame(
        options.attachment === undefined ? { json } : { json, attachment: options.attachment }
      ),
      deadline: options.deadline
    })
    const frame = yield* Option.match(decodeFrame(reply.data), {
      onNone: () => Effect.fail(malformed("the reply is not a frame")),
      onSome: Effect.succeed
    })
    const decoded = yield* decodeReply(frame.json).pipe(
      Effect.mapError((error) => malformed(`the reply is not of its schema: ${error.message}`))
    )
    if ("error" in decoded) return yield* new ServiceError(decoded.error)
    return { response: decoded.ok, attachment: frame.attachment }
  })
}

const requestHeaders = (options: CallOptions<unknown>): Record<string, string> => {
  const headers: Record<string, string> = {
    [headerNames.protocol]: String(protocolVersion),
    [headerNames.requestId]: options.requestId,
    [headerNames.deadlineMs]: String(
      Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(options.deadline)))
    )
  }
  if (options.sender !== undefined) headers[headerNames.sender] = options.sender
  if (options.epoch !== undefined) headers[headerNames.epoch] = String(options.epoch)
  return headers
}
