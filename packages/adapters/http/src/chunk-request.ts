/**
 * One HTTP exchange of the client: opened, sent, answered, each wait with its deadline.
 *
 * 1. A request that a kept connection lost before anything was answered is sent once more on a new
 *    one: the server had closed it between two exchanges.
 * 2. A server that takes long over a body shows by `102 Processing` that it moves; each wait counts
 *    from its last sign.
 * 3. When the scope closes the request is gone, whatever it was doing.
 */
import type { ClientRequest, IncomingMessage } from "node:http"
import { ChunkTransportError } from "@holdfast/storage"
import { Effect, Option, Predicate, Result, type Scope } from "effect"
import { type Bell, makeBell } from "./bell.ts"
import { bodyText } from "./body-reader.ts"
import type { ChunkConnections } from "./chunk-connections.ts"
import { answerBytesMax, decodeError } from "./chunk-exchange.ts"
import { tlsFailureOf } from "./tls-failure.ts"

/** Bytes that may wait in the process for the socket to take them. */
export const sendBufferBytes = 512 * 1024

/** What is asked, and of whom. */
export interface ChunkRequestOptions {
  readonly connections: ChunkConnections
  readonly method: "PUT" | "GET"
  readonly baseUrl: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly deviceId: string
  /** The longest of each wait: to connect, for the server's consent, for its answer. */
  readonly waitMs: number
}

/** An exchange under way. */
export interface ChunkExchange {
  readonly request: ClientRequest
  /** When the server last showed a sign, by `performance.now()`. */
  readonly moved: () => number
  /** The response, as soon as it has begun. */
  readonly response: () => IncomingMessage | undefined
  /** Waits for the server's consent to the body, or for its response if that comes instead. */
  readonly consented: Effect.Effect<void, ChunkTransportError>
  /** Waits for a response that comes before the body is sent; as long as the body takes. */
  readonly answeredEarly: Effect.Effect<void>
  /** Waits for the response. */
  readonly responded: Effect.Effect<IncomingMessage, ChunkTransportError>
}

const transportError = (
  options: ChunkRequestOptions,
  code: ChunkTransportError["code"],
  message: string
) => new ChunkTransportError({ code, deviceId: options.deviceId, message })

const protocols = new Set(["http:", "https:"])

const parseUrl = (options: ChunkRequestOptions): Result.Result<URL, ChunkTransportError> => {
  const { baseUrl, connections, path } = options
  const url = URL.parse(path, baseUrl)
  if (url === null || !protocols.has(url.protocol)) {
    const message = `${baseUrl} is no address of http or https`
    return Result.fail(transportError(options, "invalid", message))
  }
  // Before anything is sent: the capability in the headers is a secret, too.
  return connections.requiresTls && url.protocol !== "https:"
    ? Result.fail(transportError(options, "untrusted", `${baseUrl}: ${plainTextRefused}`))
    : Result.succeed(url)
}

const plainTextRefused =
  "it is reached in plain text, and this process demands TLS on the data path; give that chunk server a certificate"

/** What was heard of the server. */
interface Seen {
  consent: boolean
  moved: number
  response?: IncomingMessage
  error?: Error
}

const start = (options: ChunkRequestOptions, url: URL, bell: Bell) => {
  // Node takes `highWaterMark` here, though its types do not name it.
  const requestOptions = {
    method: options.method,
    headers: { ...options.headers },
    highWaterMark: sendBufferBytes
  }
  const started = options.connections.request(url, requestOptions)
  const seen: Seen = { consent: false, moved: performance.now() }
  started.on("information", () => {
    seen.moved = performance.now()
  })
  started.on("continue", () => {
    seen.consent = true
    bell.ring()
  })
  started.on("response", (response) => {
    seen.response = response
    response.on("error", bell.ring)
    bell.ring()
  })
  started.on("error", (error) => {
    seen.error = error
    bell.ring()
  })
  started.on("close", bell.ring)
  if (options.method === "GET") started.end()
  else started.flushHeaders()
  return { started, seen }
}

type Started = ReturnType<typeof start>

const failureOf = (options: ChunkRequestOptions, current: Started) => {
  const { started, seen } = current
  if (seen.error === undefined && !started.destroyed) return undefined
  const distrust = tlsFailureOf(seen.error)
  if (distrust !== undefined) {
    return Effect.fail(transportError(options, "untrusted", `${options.baseUrl}: ${distrust}`))
  }
  const reason = seen.error?.message ?? "the connection closed"
  const hint = isHungUp(options, current) ? plainTextHint : ""
  return Effect.fail(transportError(options, "unreachable", `${options.baseUrl}: ${reason}${hint}`))
}

const plainTextHint = "; if this server speaks TLS, its address begins with https://"

/** A new plain connection that is closed without a word: what a server of TLS does to it. */
const isHungUp = ({ baseUrl }: ChunkRequestOptions, { started, seen }: Started): boolean =>
  baseUrl.startsWith("http:") &&
  !started.reusedSocket &&
  Predicate.hasProperty(seen.error, "code") &&
  seen.error.code === "ECONNRESET"

const makeExchange = (
  options: ChunkRequestOptions,
  current: Started,
  bell: Bell
): ChunkExchange => {
  const { started, seen } = current
  const late = (what: string) => () =>
    transportError(options, "timeout", `${options.baseUrl}: ${what} for ${options.waitMs} ms`)
  const moved = () => seen.moved
  return {
    request: started,
    moved,
    response: () => seen.response,
    consented: bell.until(
      () =>
        seen.consent || seen.response !== undefined ? Effect.void : failureOf(options, current),
      { waitMs: options.waitMs, late: late("no connection or no consent") }
    ),
    answeredEarly: bell.whenever(() => (seen.response === undefined ? undefined : Effect.void)),
    responded: bell.until(
      () =>
        seen.response === undefined ? failureOf(options, current) : Effect.succeed(seen.response),
      { waitMs: options.waitMs, moved, late: late("no answer") }
    )
  }
}

const openOnce = (
  options: ChunkRequestOptions
): Effect.Effect<ChunkExchange, ChunkTransportError, Scope.Scope> =>
  Effect.fromResult(parseUrl(options)).pipe(
    Effect.flatMap((url) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const bell = makeBell()
          return makeExchange(options, start(options, url, bell), bell)
        }),
        (exchange) =>
          Effect.sync(() => {
            const isDone =
              exchange.response()?.complete === true && exchange.request.writableFinished
            if (!isDone) exchange.request.destroy()
          })
      )
    )
  )

/** Opens an exchange; for a `PUT` the server has consented to the body, or has answered already. */
export const openExchange = (
  options: ChunkRequestOptions
): Effect.Effect<ChunkExchange, ChunkTransportError, Scope.Scope> => {
  const attempt = openOnce(options).pipe(
    Effect.mapError((error) => ({ error, isStale: false })),
    Effect.flatMap((exchange) =>
      (options.method === "PUT" ? exchange.consented : Effect.asVoid(exchange.responded)).pipe(
        Effect.as(exchange),
        Effect.mapError((error) => ({
          error,
          isStale: error.code === "unreachable" && exchange.request.reusedSocket
        }))
      )
    )
  )
  return attempt.pipe(
    Effect.catchIf(
      (failed) => failed.isStale,
      () => attempt
    ),
    Effect.mapError((failed) => failed.error)
  )
}

/** The error that a response with a status of 400 or more tells. */
export const readRefusal = (options: {
  readonly response: IncomingMessage
  readonly deviceId: string
  readonly waitMs: number
}): Effect.Effect<ChunkTransportError> =>
  bodyText(options.response, { ...options, bytesMax: answerBytesMax }).pipe(
    Effect.map((text) =>
      Option.getOrElse(
        decodeError(text),
        () =>
          new ChunkTransportError({
            code: options.response.statusCode === 503 ? "overloaded" : "invalid",
            deviceId: options.deviceId,
            message: `the server answered status ${options.response.statusCode} without a reason`
          })
      )
    ),
    Effect.catch((error) => Effect.succeed(error))
  )
