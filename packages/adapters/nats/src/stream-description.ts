/**
 * A stream's configuration as the server tells it, kept as JSON so that a stream can be made again
 * as it was, whatever fields later servers add.
 */
import { Effect, Option, Schema } from "effect"
import {
  callDeadlineMs,
  callJetStream,
  failureOfCode,
  type JetStreamFailure
} from "./jetstream-call.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { NatsError } from "./nats-error.ts"
import { toNatsError } from "./ensure-stream.ts"
import { messageIdOf, parseHeaderBlock } from "./header-block.ts"

/** A stream now. */
export interface StreamDescription {
  readonly stream: string
  readonly subjects: ReadonlyArray<string>
  /** The oldest position still held and the newest ever given out. */
  readonly first: bigint
  readonly last: bigint
  readonly records: number
  readonly bytes: number
  /** JSON for {@link restoreStream}. */
  readonly configuration: string
}

const Configuration = Schema.Record(Schema.String, Schema.Unknown)
const Answer = Schema.Struct({
  error: Schema.optionalKey(
    Schema.Struct({
      code: Schema.Number,
      err_code: Schema.optionalKey(Schema.Number),
      description: Schema.optionalKey(Schema.String)
    })
  ),
  config: Schema.optionalKey(Configuration),
  state: Schema.optionalKey(
    Schema.Struct({
      messages: Schema.Natural,
      bytes: Schema.Natural,
      first_seq: Schema.Natural,
      last_seq: Schema.Natural
    })
  ),
  message: Schema.optionalKey(
    Schema.Struct({ seq: Schema.Natural, hdrs: Schema.optionalKey(Schema.String) })
  )
})
const decodeAnswer = Schema.decodeUnknownEffect(Schema.fromJsonString(Answer))
const decodeConfiguration = Schema.decodeUnknownEffect(Schema.fromJsonString(Configuration))
const Subjects = Schema.Array(Schema.String)

/** Where a stream is looked for. */
export interface StreamPlace {
  /** The JetStream domain, where leaf nodes have several. */
  readonly domain?: string
}

/** Describes a stream; none when there is no such stream. */
export const describeStream = Effect.fn("Nats.describeStream")(function* (
  connection: ManagedConnection,
  options: StreamPlace & { readonly stream: string }
): Effect.fn.Return<Option.Option<StreamDescription>, NatsError> {
  const { stream } = options
  const asked = yield* Effect.result(ask(connection, options, `STREAM.INFO.${stream}`, ""))
  if (asked._tag === "Failure") {
    if (asked.failure.kind === "not-found") return Option.none()
    return yield* toNatsError(stream, asked.failure)
  }
  const { config = {}, state } = asked.success
  return Option.some({
    stream,
    subjects: Schema.is(Subjects)(config["subjects"]) ? config["subjects"] : [],
    first: BigInt(state?.first_seq ?? 0),
    last: BigInt(state?.last_seq ?? 0),
    records: state?.messages ?? 0,
    bytes: state?.bytes ?? 0,
    configuration: JSON.stringify(config)
  })
})

/** The newest record that a stream still holds, and its message id if it has one. */
export const lastOfStream = Effect.fn("Nats.lastOfStream")(function* (
  connection: ManagedConnection,
  options: StreamPlace & { readonly stream: string }
): Effect.fn.Return<
  Option.Option<{ readonly position: bigint; readonly messageId: string | undefined }>,
  NatsError
> {
  const body = JSON.stringify({ last_by_subj: ">" })
  const asked = yield* Effect.result(
    ask(connection, options, `STREAM.MSG.GET.${options.stream}`, body)
  )
  if (asked._tag === "Failure") {
    if (asked.failure.kind === "no-message") return Option.none()
    return yield* toNatsError(options.stream, asked.failure)
  }
  const { message } = asked.success
  if (message === undefined) return Option.none()
  const headers = parseHeaderBlock(Buffer.from(message.hdrs ?? "", "base64"))
  return Option.some({ position: BigInt(message.seq), messageId: messageIdOf(headers) })
})

/**
 * Makes a stream from a recorded configuration when there is none of its name; answers whether it
 * was made. What ties a stream to another one (mirror, sources) and what forbids writing to it
 * (sealed) is left out, because records are published to it next.
 */
export const restoreStream = Effect.fn("Nats.restoreStream")(function* (
  connection: ManagedConnection,
  options: StreamPlace & { readonly configuration: string; readonly stream?: string }
): Effect.fn.Return<boolean, NatsError> {
  const invalid = (message: string) => new NatsError({ code: "invalid", message })
  const recorded = yield* decodeConfiguration(options.configuration).pipe(
    Effect.mapError((error) => invalid(`the recorded configuration is damaged: ${error.message}`))
  )
  const name = options.stream ?? recorded["name"]
  if (typeof name !== "string" || name === "") {
    return yield* invalid("the recorded configuration names no stream")
  }
  const place = options.domain === undefined ? {} : { domain: options.domain }
  if (Option.isSome(yield* describeStream(connection, { ...place, stream: name }))) return false
  const { mirror: _mirror, sources: _sources, sealed: _sealed, ...kept } = recorded
  const body = JSON.stringify({ ...kept, name })
  yield* ask(connection, place, `STREAM.CREATE.${name}`, body).pipe(
    Effect.mapError((failure) => toNatsError(name, failure))
  )
  return true
})

/** Lets the positions of a stream that never held a record begin at one above 1. */
export const beginStreamAt = Effect.fn("Nats.beginStreamAt")(function* (
  connection: ManagedConnection,
  options: StreamPlace & { readonly stream: string; readonly first: bigint }
): Effect.fn.Return<void, NatsError> {
  const { first, stream } = options
  const body = JSON.stringify({ seq: Number(first) })
  yield* ask(connection, options, `STREAM.PURGE.${stream}`, body).pipe(
    Effect.mapError((failure) => toNatsError(stream, failure))
  )
})

const ask = (
  connection: ManagedConnection,
  { domain }: StreamPlace,
  operation: string,
  body: string
): Effect.Effect<typeof Answer.Type, JetStreamFailure> => {
  const prefix = domain === undefined ? "$JS.API" : `$JS.${domain}.API`
  return callJetStream(connection, () =>
    connection.native.request(`${prefix}.${operation}`, body, { timeout: callDeadlineMs })
  ).pipe(
    Effect.flatMap((message) => decodeAnswer(message.string())),
    Effect.catchTag("SchemaError", (error) =>
      Effect.fail<JetStreamFailure>({
        kind: "unavailable",
        message: `JetStream answered something unknown: ${error.message}`
      })
    ),
    Effect.flatMap((answer) =>
      answer.error === undefined
        ? Effect.succeed(answer)
        : Effect.fail(
            failureOfCode(
              answer.error.err_code ?? 0,
              answer.error.code,
              answer.error.description ?? ""
            )
          )
    )
  )
}
