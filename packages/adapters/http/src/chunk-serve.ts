/** One request to a chunk server: checked, handed to its handler, answered. */
import type { IncomingMessage } from "node:http"
import {
  type ChunkEndpointHandlers,
  type ChunkTarget,
  ChunkTransportError
} from "@holdfast/storage"
import { Cause, Duration, Effect, Option } from "effect"
import { bodyStream } from "./body-reader.ts"
import { type ChunkAddress, parseAddress, parseRange } from "./chunk-address.ts"
import { answerBytes, answerError, answerJson, type ServerExchange } from "./chunk-answer.ts"
import { chunkHeaders, decodeTargets, encodeOutcomes, targetsMax } from "./chunk-exchange.ts"

/** What serves a request. */
export interface ServeOptions {
  readonly handlers: ChunkEndpointHandlers
  /** Tells a client that waits for consent to send its body. */
  readonly consent: () => void
}

const waitMsDefault = 30_000
const waitMsMax = 120_000
const lengthMax = 0xffff_ffff
const capabilityBytesMax = 2_048

const refuse = (code: ChunkTransportError["code"], deviceId: string, message: string) =>
  new ChunkTransportError({ code, deviceId, message })

/** Signs of progress within one wait of the client. */
const signsPerWait = 4

/** A header that may come once; a list of them is no header. */
const header = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name]
  return typeof value === "string" ? value : undefined
}

const waitMsOf = (request: IncomingMessage): number => {
  const asked = header(request, chunkHeaders.deadlineMs)
  if (asked === undefined || !/^\d{1,9}$/.test(asked)) return waitMsDefault
  return Math.min(Math.max(1, Number(asked)), waitMsMax)
}

const capabilityOf = (request: IncomingMessage): string => {
  const [, token = ""] = /^Bearer ([\w.-]+)$/.exec(header(request, "authorization") ?? "") ?? []
  return token.length > capabilityBytesMax ? "" : token
}

const lengthOf = (request: IncomingMessage, deviceId: string) => {
  const text = header(request, "content-length")
  const length = Number(text)
  return text === undefined || !/^\d{1,10}$/.test(text) || length > lengthMax
    ? Effect.fail(
        refuse("invalid", deviceId, `a Content-Length from 0 to ${lengthMax} is required`)
      )
    : Effect.succeed(length)
}

const targetsOf = (request: IncomingMessage, address: ChunkAddress) => {
  const own: ChunkTarget = {
    deviceId: address.deviceId,
    hostId: "",
    url: "",
    capability: capabilityOf(request)
  }
  const text = header(request, chunkHeaders.next)
  const next = text === undefined ? Option.some([]) : decodeTargets(text)
  return Option.match(next, {
    onSome: (others) =>
      others.length < targetsMax
        ? Effect.succeed([own, ...others])
        : Effect.fail(refuse("invalid", address.deviceId, `at most ${targetsMax} targets`)),
    onNone: () =>
      Effect.fail(refuse("invalid", address.deviceId, "the next targets cannot be decoded"))
  })
}

/** Tells the client now and then that its bytes are being taken. */
const signs = ({ response }: ServerExchange, intervalMs: number): (() => void) => {
  let last = performance.now()
  return () => {
    const now = performance.now()
    if (now - last < intervalMs || response.headersSent || response.destroyed) return
    last = now
    response.writeProcessing()
  }
}

/** Each server waits a little less than the one before it, so that answers come back in time. */
const deadlineShare = 0.8

const serveWrite = Effect.fnUntraced(function* (
  exchange: ServerExchange,
  address: ChunkAddress,
  options: ServeOptions
) {
  const { request } = exchange
  const length = yield* lengthOf(request, address.deviceId)
  const targets = yield* targetsOf(request, address)
  const waitMs = waitMsOf(request)
  const outcomes = yield* options.handlers.write({
    chunk: address.chunk,
    length,
    targets,
    data: bodyStream(request, {
      deviceId: address.deviceId,
      waitMs,
      onStart: options.consent,
      onTaken: signs(exchange, waitMs / signsPerWait)
    }),
    deadline: Duration.millis(Math.ceil(waitMs * deadlineShare))
  })
  answerJson(exchange, 200, encodeOutcomes(outcomes))
})

const serveRead = Effect.fnUntraced(function* (
  exchange: ServerExchange,
  address: ChunkAddress,
  options: ServeOptions & { readonly query: string }
) {
  const { request } = exchange
  const { deviceId } = address
  const range = parseRange({ query: options.query, header: header(request, "range") })
  if (range === "bad") return yield* refuse("out-of-range", deviceId, "the range is not understood")
  const { description, data } = yield* options.handlers.read({
    chunk: address.chunk,
    deviceId,
    capability: capabilityOf(request),
    range
  })
  const whole = { start: 0, end: description.length }
  const { start, end } = Option.getOrElse(range, () => whole)
  if (start > end || end > description.length) {
    const message = `bytes ${start} to ${end} are not inside 0 to ${description.length}`
    return yield* refuse("out-of-range", deviceId, message)
  }
  yield* answerBytes(exchange, {
    deviceId,
    waitMs: waitMsOf(request),
    description,
    isRange: Option.isSome(range),
    start,
    length: end - start,
    data
  })
})

const route = (exchange: ServerExchange, options: ServeOptions) => {
  const { request } = exchange
  const [path = "", query = ""] = (request.url ?? "").split("?", 2)
  const address = parseAddress(path)
  if (Option.isNone(address)) {
    return Effect.fail(
      refuse("invalid", "", "paths are /v1/devices/<device>/chunks/<file>/<chunk>/<version>")
    )
  }
  if (request.method === "PUT") return serveWrite(exchange, address.value, options)
  if (request.method === "GET") return serveRead(exchange, address.value, { ...options, query })
  return Effect.fail(refuse("invalid", address.value.deviceId, "only PUT and GET are served"))
}

/** Serves one request to its end; a handler that dies is answered and harms no other. */
export const serveChunk = (exchange: ServerExchange, options: ServeOptions): Effect.Effect<void> =>
  route(exchange, options).pipe(
    Effect.catch((error) => Effect.sync(() => answerError(exchange, error))),
    Effect.catchCause((cause) =>
      Effect.sync(() => {
        const message = `the chunk server failed: ${String(Cause.squash(cause))}`
        answerError(exchange, refuse("unavailable", "", message))
        if (!exchange.response.writableEnded) exchange.response.destroy()
      })
    )
  )
