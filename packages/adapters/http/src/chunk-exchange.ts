/**
 * What client and chunk server say to each other around the bytes: header names, outcomes, errors.
 *
 *     PUT  Authorization: Bearer <capability>, Holdfast-Next: <the targets after this one>,
 *          Holdfast-Deadline-Ms, Content-Length; Expect: 100-continue
 *          ─▶ 200 {"outcomes": [...]}, one for this server and each next one, in order
 *     GET  Authorization: Bearer <capability>; ?start=..&end=.. or Range
 *          ─▶ 200 or 206 with Holdfast-Length and Holdfast-Checksum, then bytes, then the trailer
 *             Holdfast-End: "complete" or the error that cut the bytes short
 *     any  ─▶ 4xx or 5xx {"error": {"code", "deviceId", "message"}}
 */
import {
  ChunkReceipt,
  ChunkTarget,
  ChunkTransportError,
  type WriteOutcome
} from "@holdfast/storage"
import { Option, Schema } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"

/** Header names, in the form that Node uses for those it received. */
export const chunkHeaders = {
  next: "holdfast-next",
  deadlineMs: "holdfast-deadline-ms",
  length: "holdfast-length",
  checksum: "holdfast-checksum",
  end: "holdfast-end"
} as const

/** The most targets that one write names. */
export const targetsMax = 15
/** The most bytes of headers: fifteen targets with their capabilities. */
export const headerBytesMax = 64 * 1024
/** The most bytes of an answer in JSON. */
export const answerBytesMax = 256 * 1024

const TargetList = Schema.fromJsonString(
  Schema.Array(ChunkTarget).check(Schema.isMaxLength(targetsMax))
)

/** Encodes the targets after the first. */
export const encodeTargets = (targets: ReadonlyArray<ChunkTarget>): string =>
  Base64Url.encode(Schema.encodeSync(TargetList)(targets))

/** Decodes what {@link encodeTargets} made; none for anything else. */
export const decodeTargets = (text: string): Option.Option<ReadonlyArray<ChunkTarget>> =>
  Option.flatMap(Option.getSuccess(Base64Url.decodeString(text)), (json) =>
    Schema.decodeUnknownOption(TargetList)(json)
  )

const ErrorBody = Schema.Struct({
  code: ChunkTransportError.fields.code,
  deviceId: Schema.String,
  message: Schema.String
})

const OutcomeBody = Schema.Union([
  Schema.TaggedStruct("Stored", { receipt: ChunkReceipt }),
  Schema.TaggedStruct("Refused", { deviceId: Schema.String, error: ErrorBody })
])

const OutcomesJson = Schema.fromJsonString(
  Schema.Struct({ outcomes: Schema.Array(OutcomeBody).check(Schema.isMaxLength(targetsMax)) })
)
const ErrorJson = Schema.fromJsonString(Schema.Struct({ error: ErrorBody }))

const errorBody = (error: ChunkTransportError) => ({
  code: error.code,
  deviceId: error.deviceId,
  message: error.message
})

/** Encodes the outcomes of a write. */
export const encodeOutcomes = (outcomes: ReadonlyArray<WriteOutcome>): string =>
  Schema.encodeSync(OutcomesJson)({
    outcomes: outcomes.map((outcome) =>
      outcome._tag === "Stored" ? outcome : { ...outcome, error: errorBody(outcome.error) }
    )
  })

/** Decodes the outcomes of a write; none when they are not such. */
export const decodeOutcomes = (json: string): Option.Option<ReadonlyArray<WriteOutcome>> =>
  Option.map(Schema.decodeUnknownOption(OutcomesJson)(json), ({ outcomes }) =>
    outcomes.map((outcome): WriteOutcome =>
      outcome._tag === "Stored"
        ? outcome
        : { ...outcome, error: new ChunkTransportError(outcome.error) }
    )
  )

/** Encodes an error. */
export const encodeError = (error: ChunkTransportError): string =>
  Schema.encodeSync(ErrorJson)({ error: errorBody(error) })

/** Decodes an error; none when it is not such. */
export const decodeError = (json: string): Option.Option<ChunkTransportError> =>
  Option.map(
    Schema.decodeUnknownOption(ErrorJson)(json),
    ({ error }) => new ChunkTransportError(error)
  )

/** The trailer of a body whose bytes all came. */
export const completeTrailer = "complete"

/** The trailer of a body that was cut short. */
export const encodeTrailer = (error: ChunkTransportError): string =>
  Base64Url.encode(encodeError(error))

/** The error that a trailer tells; none for a text that is no such trailer. */
export const decodeTrailer = (text: string): Option.Option<ChunkTransportError> =>
  Option.flatMap(Option.getSuccess(Base64Url.decodeString(text)), decodeError)

/** The HTTP status of each error. */
export const statusOf = (code: ChunkTransportError["code"]): number => {
  switch (code) {
    case "invalid":
      return 400
    case "denied":
    case "untrusted":
      return 403
    case "not-found":
      return 404
    case "exists":
      return 409
    case "out-of-range":
      return 416
    case "corrupt":
      return 500
    case "unreachable":
      return 502
    case "unavailable":
    case "overloaded":
      return 503
    case "timeout":
      return 504
    case "full":
      return 507
  }
}
