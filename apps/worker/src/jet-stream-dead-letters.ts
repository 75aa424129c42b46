/**
 * Dead letters in a JetStream stream of their own, made when it is missing.
 *
 *     record of "orders.eu" ─▶ subject "<stream>.orders.eu", its headers, and what happened to it
 *
 * The record's own subject belongs to the stream that it came from, so it stands behind the name of
 * the letters' stream. Repeats are dropped by message id.
 */
import {
  ensureStream,
  makeRecordPublisher,
  NatsConnections,
  type OutgoingRecord,
  type RecordPublisher
} from "@holdfast/adapter-nats"
import {
  type DeadLetter,
  DeadLetterError,
  DeadLetters,
  letterHeaders
} from "@holdfast/service-worker"
import { Effect, Layer, Scope, Semaphore } from "effect"
import { makeArchiveDeadLetters, type PutLetter } from "./archive-dead-letters.ts"

const duplicateWindow = "1 hour"
const encoder = new TextEncoder()
const dot = 46

/** The subjects of a stream for dead letters. */
export const letterSubjects = (stream: string): ReadonlyArray<string> => [`${stream}.>`]

/** A letter as it is published to a stream. */
export const letterRecord = (stream: string, letter: DeadLetter): OutgoingRecord => {
  const { data, headers, subject } = letter.record
  return {
    subject: Uint8Array.from([...encoder.encode(stream), dot, ...subject]),
    headers: [...headers, ...letterHeaders(letter)],
    data,
    messageId: letter.id
  }
}

/** Puts letters into streams, each made when its first letter comes. */
const makePut = Effect.gen(function* () {
  const { bulk } = yield* NatsConnections
  const scope = yield* Effect.scope
  const publishers = new Map<string, RecordPublisher>()

  const publisherOf = Effect.fnUntraced(function* (stream: string) {
    const known = publishers.get(stream)
    if (known !== undefined) return known
    yield* ensureStream(bulk, { stream, subjects: letterSubjects(stream), duplicateWindow })
    const publisher = yield* makeRecordPublisher(bulk, { stream }).pipe(Scope.provide(scope))
    // A publisher takes one batch after another, and several shards may have letters at once.
    const turn = yield* Semaphore.make(1)
    const publish: RecordPublisher["publish"] = (records) =>
      turn.withPermits(1)(publisher.publish(records))
    publishers.set(stream, { publish })
    return { publish }
  })

  const put: PutLetter = (stream, letter) =>
    Effect.gen(function* () {
      const publisher = yield* publisherOf(stream)
      yield* publisher.publish([letterRecord(stream, letter)])
    }).pipe(
      Effect.mapError(
        ({ message }) =>
          new DeadLetterError({
            message: `a dead letter of ${letter.shard} is not stored yet: ${message}`
          })
      )
    )
  return put
})

/** Dead letters of archives on the servers that are connected to, each in its archive's stream. */
export const jetStreamArchiveLetters = Layer.effect(
  DeadLetters,
  Effect.flatMap(makePut, makeArchiveDeadLetters)
)

/** All dead letters of a worker in one stream. */
export const jetStreamLetters = (stream: string) =>
  Layer.effect(
    DeadLetters,
    Effect.map(makePut, (put) => DeadLetters.of({ put: (letter) => put(stream, letter) }))
  )
