/**
 * Messages over loopback HTTP: the paths, the bodies, and the file that tells where and with what.
 *
 *     POST /v1/request    {"subject", "headers", "deadlineMs"} and the data behind it, as a frame
 *          ─▶ 200         {"headers"} and the data behind it
 *     POST /v1/publish    {"subject", "headers"} and the data behind it
 *          ─▶ 200         {"headers": {}}
 *     GET  /v1/state      ─▶ 200 {"state"}
 *     any                 ─▶ 4xx or 5xx {"code", "subject", "message"}
 *
 * Frames are those of the wire package; without data they are bare JSON, so that `curl` will do.
 */
import { MessagingError } from "@holdfast/messaging"
import { Option, Schema } from "effect"
import { decodeFrame, encodeFrame } from "@holdfast/wire"

/** The paths that the server answers. */
export const loopbackPaths = {
  request: "/v1/request",
  publish: "/v1/publish",
  state: "/v1/state"
} as const

/** Room for a frame's JSON beside the largest payload. */
export const envelopeBytesMax = 64 * 1024

/** The largest time a request may ask for. */
export const deadlineMsMax = 600_000

const HeaderMap = Schema.Record(Schema.String, Schema.String)

/** What is asked. */
export const LoopbackRequest = Schema.fromJsonString(
  Schema.Struct({
    subject: Schema.String,
    headers: Schema.optionalKey(HeaderMap),
    deadlineMs: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: deadlineMsMax }))
    )
  })
)
/** What is asked. */
export type LoopbackRequest = typeof LoopbackRequest.Type

/** What is answered beside the data. */
export const LoopbackReply = Schema.fromJsonString(Schema.Struct({ headers: HeaderMap }))

/** The answer about the state. */
export const LoopbackState = Schema.fromJsonString(
  Schema.Struct({ state: Schema.Literals(["connected", "reconnecting", "closed"]) })
)

/** An error in an answer. */
export const LoopbackError = Schema.fromJsonString(
  Schema.Struct({
    code: MessagingError.fields.code,
    subject: Schema.String,
    message: Schema.String
  })
)

/** The access file: where the server listens, and the word that opens it. */
export const LoopbackAccess = Schema.fromJsonString(
  Schema.Struct({
    url: Schema.String,
    token: Schema.String.check(Schema.isPattern(/^[\w-]{32,128}$/)),
    maxPayloadBytes: Schema.Natural
  })
)
/** Where the server listens, and the word that opens it. */
export type LoopbackAccess = typeof LoopbackAccess.Type

/** A decoded body. */
export interface LoopbackMessage<Envelope> {
  readonly envelope: Envelope
  readonly data: Uint8Array
}

/** Encodes a body. */
export const encodeLoopback = <Envelope>(
  schema: Schema.Codec<Envelope, string>,
  message: LoopbackMessage<Envelope>
): Uint8Array =>
  encodeFrame({ json: Schema.encodeSync(schema)(message.envelope), attachment: message.data })

/** Decodes a body; none when it is not of the schema. */
export const decodeLoopback = <Envelope>(
  schema: Schema.Codec<Envelope, string>,
  body: Uint8Array
): Option.Option<LoopbackMessage<Envelope>> =>
  Option.flatMap(decodeFrame(body), ({ json, attachment }) =>
    Option.map(Schema.decodeUnknownOption(schema)(json), (envelope) => ({
      envelope,
      data: attachment
    }))
  )

/** The HTTP status of an error. */
export const loopbackStatus = (code: MessagingError["code"]): number => {
  switch (code) {
    case "invalid":
      return 400
    case "denied":
      return 403
    case "no-responders":
      return 404
    case "too-large":
      return 413
    case "disconnected":
    case "overloaded":
    case "closed":
      return 503
    case "timeout":
      return 504
  }
}
