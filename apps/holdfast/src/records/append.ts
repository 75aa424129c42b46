/** The two places that records can be appended to: the embedded spool, or a JetStream stream. */
import { ensureStream, makeRecordPublisher, NatsConnections } from "@holdfast/adapter-nats"
import { Messaging } from "@holdfast/messaging"
import {
  type CallError,
  encodeRecords,
  makeCaller,
  makeRequestId,
  SpoolOperations
} from "@holdfast/wire"
import { Effect, Schedule } from "effect"
import type { AppendBatch } from "./ingest.ts"

const callAppend = makeCaller(SpoolOperations.append)

const isRetryable = (error: CallError): boolean => {
  switch (error._tag) {
    case "MessagingError":
      return error.isRetryable
    case "ServiceError":
      return error.retryAfterMs !== undefined || error.code === "overloaded"
    case "ProtocolError":
      return false
  }
}

/** One append to the embedded spool, tried again where that can help; a repeat adds nothing. */
export const appendOnce = (options: {
  readonly cluster: string
  readonly stream: string
  readonly requestId: string
  readonly attachment: Uint8Array
}): Effect.Effect<void, CallError, Messaging> => {
  const { attachment, cluster, requestId, stream } = options
  const call = callAppend({
    cluster,
    request: { stream },
    attachment,
    deadline: "15 seconds",
    requestId
  })
  const schedule = Schedule.exponential("100 millis")
  return Effect.asVoid(Effect.retry(call, { schedule, times: 5, while: isRetryable }))
}

/** Appends to a stream of the embedded spool. */
export const appendToSpool = Effect.fnUntraced(function* (options: {
  readonly cluster: string
  readonly stream: string
}): Effect.fn.Return<AppendBatch, never, Messaging> {
  const messaging = yield* Messaging
  return (records) =>
    Effect.gen(function* () {
      const requestId = yield* makeRequestId
      yield* appendOnce({ ...options, requestId, attachment: encodeRecords(records) })
    }).pipe(Effect.provideService(Messaging, messaging))
})

/** Publishes to a JetStream stream, which is made when it is missing. */
export const appendToJetStream = Effect.fnUntraced(function* (options: {
  readonly stream: string
  readonly subject: string
}) {
  const { bulk } = yield* NatsConnections
  yield* ensureStream(bulk, { stream: options.stream, subjects: [options.subject] })
  const publisher = yield* makeRecordPublisher(bulk, { stream: options.stream })
  const append: AppendBatch = (records) =>
    Effect.gen(function* () {
      const batch = yield* makeRequestId
      const outgoing = records.map((record, index) => ({
        ...record,
        messageId: `${batch}-${index}`
      }))
      yield* publisher.publish(outgoing).pipe(
        Effect.retry({
          // A stream that loses its leader is away for five to seven seconds.
          schedule: Schedule.spaced("500 millis"),
          times: 40,
          while: ({ code }) => code === "unavailable"
        })
      )
    })
  return append
})
