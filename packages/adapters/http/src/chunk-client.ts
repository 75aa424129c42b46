/**
 * The client's side of the data path: writes to the first server of a chain, reads from one holder.
 *
 * 1. A write sends no byte before the first server consented: a full device costs no traffic.
 * 2. A write answers one outcome for each target, whatever happened; an answer that is not such
 *    counts as none.
 * 3. A read fails with the holder's own reason when that one cut the bytes short.
 */
import type { IncomingMessage } from "node:http"
import { ChunkTransportError, type ChunkTransport, type WriteOutcome } from "@holdfast/storage"
import { Duration, Effect, Option, Stream } from "effect"
import { bodyStream, bodyText } from "./body-reader.ts"
import { bodyWriter } from "./body-writer.ts"
import { addressPath, rangeQuery } from "./chunk-address.ts"
import type { ChunkConnections } from "./chunk-connections.ts"
import {
  answerBytesMax,
  chunkHeaders,
  completeTrailer,
  decodeOutcomes,
  decodeTrailer,
  encodeTargets,
  targetsMax
} from "./chunk-exchange.ts"
import {
  type ChunkExchange,
  type ChunkRequestOptions,
  openExchange,
  readRefusal
} from "./chunk-request.ts"

type Transport = (typeof ChunkTransport)["Service"]
type WriteOptions = Parameters<Transport["write"]>[0]
type ReadOptions = Parameters<Transport["read"]>[0]

const millis = (deadline: Duration.Input): number =>
  Math.max(1, Math.ceil(Duration.toMillis(Duration.fromInputUnsafe(deadline))))

/** Fails with `timeout` once nothing has moved for the deadline; also while the data pauses. */
const makeWatchdog = (wait: {
  readonly deviceId: string
  readonly waitMs: number
  readonly moved: () => number
}) => {
  let moved = performance.now()
  const watch: Effect.Effect<never, ChunkTransportError> = Effect.suspend(() => {
    const idleMs = performance.now() - Math.max(moved, wait.moved())
    return idleMs >= wait.waitMs
      ? Effect.fail(
          new ChunkTransportError({
            code: "timeout",
            deviceId: wait.deviceId,
            message: `nothing moved for ${wait.waitMs} ms`
          })
        )
      : Effect.andThen(Effect.sleep(Math.ceil(wait.waitMs - idleMs)), watch)
  })
  return {
    touch: () => {
      moved = performance.now()
    },
    watch
  }
}

/** Sends the data, until all of it is sent or the server has answered. */
const sendBody = (
  exchange: ChunkExchange,
  options: WriteOptions,
  wait: { readonly deviceId: string; readonly waitMs: number }
): Effect.Effect<void, ChunkTransportError> => {
  const { moved } = exchange
  const writer = bodyWriter(exchange.request, { ...wait, moved })
  const watchdog = makeWatchdog({ ...wait, moved })
  const mismatch = (sent: number) =>
    new ChunkTransportError({
      code: "invalid",
      deviceId: wait.deviceId,
      message: `the data has ${sent} bytes or more, ${options.length} were announced`
    })
  let sent = 0
  const sendAll = options.data.pipe(
    Stream.runForEach((piece) => {
      sent += piece.length
      watchdog.touch()
      return sent > options.length ? Effect.fail(mismatch(sent)) : writer.send(piece)
    }),
    Effect.andThen(
      Effect.suspend(() => (sent === options.length ? Effect.void : Effect.fail(mismatch(sent))))
    ),
    Effect.andThen(Effect.sync(() => exchange.request.end()))
  )
  return exchange.response() === undefined
    ? Effect.raceAllFirst([exchange.answeredEarly, sendAll, watchdog.watch])
    : Effect.void
}

const readOutcomes = Effect.fnUntraced(function* (
  response: IncomingMessage,
  options: WriteOptions,
  wait: { readonly deviceId: string; readonly waitMs: number }
) {
  if (response.statusCode !== 200) return yield* yieldRefusal(response, wait)
  const text = yield* bodyText(response, { ...wait, bytesMax: answerBytesMax })
  const outcomes = Option.filter(
    decodeOutcomes(text),
    (each) =>
      each.length === options.targets.length &&
      each.every((outcome, index) => targetOf(outcome) === options.targets[index]?.deviceId)
  )
  return yield* Option.match(outcomes, {
    onSome: Effect.succeed,
    onNone: () =>
      Effect.fail(
        new ChunkTransportError({
          code: "invalid",
          deviceId: wait.deviceId,
          message: "the server's answer does not match the targets of the write"
        })
      )
  })
})

const targetOf = (outcome: WriteOutcome): string =>
  outcome._tag === "Stored" ? outcome.receipt.deviceId : outcome.deviceId

const yieldRefusal = (
  response: IncomingMessage,
  wait: { readonly deviceId: string; readonly waitMs: number }
) => Effect.flatMap(readRefusal({ response, ...wait }), Effect.fail)

const attemptWrite = Effect.fnUntraced(function* (
  connections: ChunkConnections,
  options: WriteOptions
) {
  const [first, ...next] = options.targets
  if (first === undefined) return []
  const wait = { deviceId: first.deviceId, waitMs: millis(options.deadline) }
  const isCountable = options.targets.length <= targetsMax && options.length >= 0
  if (!isCountable) {
    const message = `${options.targets.length} targets or ${options.length} bytes cannot be sent`
    return yield* new ChunkTransportError({ code: "invalid", deviceId: first.deviceId, message })
  }
  const exchange = yield* openExchange({
    connections,
    method: "PUT",
    baseUrl: first.url,
    path: addressPath({ deviceId: first.deviceId, chunk: options.chunk }),
    headers: {
      authorization: `Bearer ${first.capability}`,
      "content-length": String(options.length),
      expect: "100-continue",
      [chunkHeaders.deadlineMs]: String(wait.waitMs),
      ...(next.length === 0 ? {} : { [chunkHeaders.next]: encodeTargets(next) })
    },
    ...wait
  })
  yield* sendBody(exchange, options, wait)
  return yield* readOutcomes(yield* exchange.responded, options, wait)
})

/** Sends a chunk along its targets; see the port. */
export const writeChunk = (
  connections: ChunkConnections,
  options: WriteOptions
): Effect.Effect<ReadonlyArray<WriteOutcome>> =>
  Effect.scoped(attemptWrite(connections, options)).pipe(
    Effect.catch((error) =>
      Effect.succeed(
        options.targets.map(({ deviceId }): WriteOutcome => ({ _tag: "Refused", deviceId, error }))
      )
    )
  )

/** Why a body ended before its length, or nothing when all of it came. */
const shortfall = (
  response: IncomingMessage,
  wanted: { readonly deviceId: string; readonly length: number; readonly received: number }
): ChunkTransportError | undefined => {
  const trailer = response.trailers[chunkHeaders.end]
  if (trailer === completeTrailer && wanted.received === wanted.length) return undefined
  return Option.getOrElse(
    decodeTrailer(trailer ?? ""),
    () =>
      new ChunkTransportError({
        code: "unreachable",
        deviceId: wanted.deviceId,
        message: `${wanted.received} of ${wanted.length} bytes came`
      })
  )
}

const readBody = (
  response: IncomingMessage,
  wait: { readonly deviceId: string; readonly waitMs: number }
) => {
  const length = Number(response.headers[chunkHeaders.length])
  let received = 0
  const count = (bytes: number) => {
    received += bytes
  }
  const end = Effect.suspend(() => {
    const error = shortfall(response, { deviceId: wait.deviceId, length, received })
    return error === undefined ? Effect.void : Effect.fail(error)
  })
  return bodyStream(response, { ...wait, onTaken: count }).pipe(
    Stream.concat(Stream.fromEffectDrain(end))
  )
}

/** Reads a chunk or a range of it; see the port. */
export const readChunk = (
  connections: ChunkConnections,
  options: ReadOptions
): Stream.Stream<Uint8Array, ChunkTransportError> => {
  const { source, chunk } = options
  const wait = { deviceId: source.deviceId, waitMs: millis(options.deadline) }
  const query = Option.match(options.range, { onNone: () => "", onSome: rangeQuery })
  const request: ChunkRequestOptions = {
    connections,
    method: "GET",
    baseUrl: source.url,
    path: `${addressPath({ deviceId: source.deviceId, chunk })}${query}`,
    headers: {
      authorization: `Bearer ${source.capability}`,
      te: "trailers",
      [chunkHeaders.deadlineMs]: String(wait.waitMs)
    },
    ...wait
  }
  return Stream.scoped(
    Stream.unwrap(
      Effect.gen(function* () {
        const response = yield* (yield* openExchange(request)).responded
        const isServed = response.statusCode === 200 || response.statusCode === 206
        return isServed ? readBody(response, wait) : yield* yieldRefusal(response, wait)
      })
    )
  )
}
