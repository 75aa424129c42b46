/**
 * Lets other processes of this machine and user speak through this process's Messaging.
 *
 *     second terminal ──POST──▶ 127.0.0.1:<port> ──▶ Messaging of this process
 *
 * 1. It listens on 127.0.0.1 alone, and answers nothing without the token of the access file.
 * 2. Requests and publishes only: nothing can be served or subscribed from outside.
 * 3. A body over the transport's largest payload is refused while it comes, not kept.
 * 4. A client that goes away ends its request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { Messaging, MessagingError } from "@holdfast/messaging"
import { Duration, Effect, FiberSet, Option, Schema, type Scope } from "effect"
import { makeBell } from "./bell.ts"
import { collectBody } from "./loopback-body.ts"
import { isToken, keepAccess, makeToken } from "./loopback-access.ts"
import {
  deadlineMsMax,
  decodeLoopback,
  encodeLoopback,
  envelopeBytesMax,
  LoopbackError,
  loopbackPaths,
  LoopbackReply,
  LoopbackRequest,
  LoopbackState,
  loopbackStatus
} from "./loopback-wire.ts"

/** How the server is set up. */
export interface LoopbackServerOptions {
  /** The access file to keep; its directory exists. */
  readonly accessFile: string
  /** 0 for any free port. */
  readonly port: number
  /** Requests at a time; one more is answered `overloaded`. */
  readonly requestsMax: number
}

const deadlineMsDefault = 30_000
const bodyWaitMs = 10_000
const noData = new Uint8Array(0)

type MessagingShape = Messaging["Service"]

const refuse = (code: MessagingError["code"], message: string, subject = "") =>
  new MessagingError({ code, subject, message })

const answer = (response: ServerResponse, status: number, body: Uint8Array): void => {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { "content-length": body.length })
  response.end(body)
}

const answerError = (response: ServerResponse, error: MessagingError): void => {
  const { code, subject, message } = error
  const json = Schema.encodeSync(LoopbackError)({ code, subject, message })
  if (!response.req.complete) response.setHeader("connection", "close")
  answer(response, loopbackStatus(code), new TextEncoder().encode(json))
}

const readRequest = Effect.fnUntraced(function* (
  request: IncomingMessage,
  messaging: MessagingShape
) {
  const body = yield* collectBody(request, {
    bytesMax: messaging.maxPayloadBytes + envelopeBytesMax,
    waitMs: bodyWaitMs
  })
  const message = decodeLoopback(LoopbackRequest, body)
  if (Option.isNone(message)) return yield* refuse("invalid", "the body is no message")
  return message.value
})

const forward = Effect.fnUntraced(function* (
  request: IncomingMessage,
  messaging: MessagingShape
): Effect.fn.Return<Uint8Array, MessagingError> {
  const { url, method } = request
  if (method === "GET" && url === loopbackPaths.state) {
    return encodeLoopback(LoopbackState, {
      envelope: { state: yield* messaging.state },
      data: noData
    })
  }
  if (method !== "POST" || (url !== loopbackPaths.request && url !== loopbackPaths.publish)) {
    return yield* refuse("invalid", "POST to /v1/request or /v1/publish, or GET /v1/state")
  }
  const { envelope, data } = yield* readRequest(request, messaging)
  const outgoing = { subject: envelope.subject, headers: envelope.headers ?? {}, data }
  if (url === loopbackPaths.publish) {
    yield* messaging.publish(outgoing)
    return encodeLoopback(LoopbackReply, { envelope: { headers: {} }, data: noData })
  }
  const deadline = Duration.millis(
    Math.min(envelope.deadlineMs ?? deadlineMsDefault, deadlineMsMax)
  )
  const reply = yield* messaging.request({ ...outgoing, deadline })
  return encodeLoopback(LoopbackReply, {
    envelope: { headers: reply.headers },
    data: reply.data
  })
})

/** Ends when the client is gone. */
const clientGone = (response: ServerResponse) => {
  const bell = makeBell()
  response.on("close", bell.ring)
  return bell.until(
    () => (response.destroyed || response.writableFinished ? Effect.void : undefined),
    { waitMs: deadlineMsMax + bodyWaitMs, late: () => undefined }
  )
}

const serve = (request: IncomingMessage, response: ServerResponse, messaging: MessagingShape) =>
  forward(request, messaging).pipe(
    Effect.map((body) => answer(response, 200, body)),
    Effect.catch((error) => Effect.sync(() => answerError(response, error))),
    Effect.catchCause((cause) =>
      Effect.sync(() => answerError(response, refuse("closed", `it failed: ${String(cause)}`)))
    ),
    Effect.raceFirst(Effect.ignore(clientGone(response)))
  )

const isAllowed = (request: IncomingMessage, token: string): boolean => {
  const [, given] = /^Bearer ([\w-]{1,256})$/.exec(request.headers.authorization ?? "") ?? []
  return given !== undefined && isToken(given, token)
}

const listening = (server: Server, port: number) =>
  Effect.callback<number, MessagingError>((resume) => {
    server.once("error", (error) => resume(Effect.fail(refuse("disconnected", error.message))))
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/** Serves until the scope closes; answers the base URL, which the access file names too. */
export const serveLoopback = Effect.fnUntraced(function* (
  options: LoopbackServerOptions
): Effect.fn.Return<{ readonly url: string }, MessagingError, Messaging | Scope.Scope> {
  const messaging = yield* Messaging
  const token = makeToken()
  const running = yield* FiberSet.make<void, never>()
  const run = yield* FiberSet.runtime(running)()
  let requests = 0
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => createServer({ headersTimeout: bodyWaitMs, requestTimeout: 0 })),
    (made) =>
      Effect.sync(() => {
        made.close()
        made.closeAllConnections()
      })
  )
  server.on("request", (request, response) => {
    response.on("error", () => undefined)
    if (!isAllowed(request, token)) {
      answerError(response, refuse("denied", "the token of the access file is required"))
      return
    }
    if (requests >= options.requestsMax) {
      answerError(response, refuse("overloaded", `${requests} requests are running`))
      return
    }
    requests += 1
    run(
      serve(request, response, messaging).pipe(Effect.ensuring(Effect.sync(() => (requests -= 1))))
    )
  })
  const port = yield* listening(server, options.port)
  server.on("error", () => undefined)
  const url = `http://127.0.0.1:${port}`
  yield* keepAccess(options.accessFile, {
    url,
    token,
    maxPayloadBytes: messaging.maxPayloadBytes
  })
  return { url }
})
