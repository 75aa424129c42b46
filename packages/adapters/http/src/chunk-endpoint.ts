/**
 * The ChunkEndpoint port over HTTP: what a chunk server listens with.
 *
 * 1. Nothing of a request reaches a handler before its path, headers and sizes were checked.
 * 2. With `Expect: 100-continue` no byte is sent before the handler asks for the first one.
 * 3. At most `transfersMax` transfers run; one more is answered `overloaded` at once.
 * 4. With TLS nothing of a request is looked at before its client is known, where that is demanded.
 * 5. When the scope closes, no connection is taken any more, and transfers that run end first.
 */
import { createServer, type Server } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"
import { ChunkEndpoint, ChunkTransportError } from "@holdfast/storage"
import { Effect, FiberSet, Layer, type Scope } from "effect"
import { answerError, type ServerExchange } from "./chunk-answer.ts"
import { headerBytesMax } from "./chunk-exchange.ts"
import { sendBufferBytes } from "./chunk-request.ts"
import { serveChunk } from "./chunk-serve.ts"
import { type ClientCheck, everyClient, knownClients } from "./client-check.ts"
import type { FollowedTls } from "./followed-tls.ts"
import { contextOptions } from "./tls-files.ts"

type ListenOptions = Parameters<(typeof ChunkEndpoint)["Service"]["listen"]>[0]

const headersTimeoutMs = 10_000
const keepAliveMs = 60_000
/** How long closing waits for transfers; each has its own, shorter deadlines. */
const drainMs = 30_000
const idleCheckMs = 20

const refuse = (code: ChunkTransportError["code"], message: string) =>
  new ChunkTransportError({ code, deviceId: "", message })

/** How a chunk server listens with TLS. */
export interface ChunkEndpointTls {
  /** Its certificate, and the authorities that its clients' certificates are signed by. */
  readonly files: FollowedTls
  /** Whether clients without such a certificate are refused. */
  readonly demandsClientCertificate: boolean
}

const httpOptions = {
  maxHeaderSize: headerBytesMax,
  headersTimeout: headersTimeoutMs,
  // A transfer may be long; its own deadline between bytes is what bounds it.
  requestTimeout: 0,
  keepAliveTimeout: keepAliveMs,
  highWaterMark: sendBufferBytes
}

/** A server, and the check of whoever connects to it. */
interface Listener {
  readonly server: Server
  readonly scheme: "http" | "https"
  readonly check: ClientCheck
}

const plainListener: Effect.Effect<Listener> = Effect.sync(() => ({
  server: createServer(httpOptions),
  scheme: "http",
  check: everyClient
}))

const tlsListener = Effect.fnUntraced(function* ({
  demandsClientCertificate,
  files
}: ChunkEndpointTls): Effect.fn.Return<Listener, never, Scope.Scope> {
  const server = createTlsServer({
    ...httpOptions,
    ...contextOptions(files.present()),
    handshakeTimeout: headersTimeoutMs,
    // Who is not known is told so in an answer; a connection that only closes explains nothing.
    requestCert: demandsClientCertificate,
    rejectUnauthorized: false
  })
  yield* files.onChange((material) => server.setSecureContext(contextOptions(material)))
  return { server, scheme: "https", check: demandsClientCertificate ? knownClients : everyClient }
})

const listening = (server: Server, options: ListenOptions) =>
  Effect.callback<void, ChunkTransportError>((resume) => {
    server.once("error", (error) => resume(Effect.fail(refuse("unavailable", error.message))))
    server.listen(options.port, options.host, () => resume(Effect.void))
  })

const baseUrl = (scheme: string, address: AddressInfo | string | null): string => {
  if (address === null || typeof address === "string") return ""
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address
  return `${scheme}://${host}:${address.port}`
}

/** Waits for the exchanges that run; connections are closed as they fall idle. */
const closeServer = (server: Server) =>
  Effect.callback<void>((resume) => {
    const timer = setInterval(() => server.closeIdleConnections(), idleCheckMs)
    server.close(() => {
      clearInterval(timer)
      resume(Effect.void)
    })
    return Effect.sync(() => clearInterval(timer))
  }).pipe(
    Effect.timeoutOption(drainMs),
    Effect.andThen(Effect.sync(() => server.closeAllConnections()))
  )

/** Takes transfers until the limit; the rest is refused at once. */
const serveRequests = (
  { check, server }: Listener,
  options: ListenOptions,
  run: (act: Effect.Effect<void>) => void
): void => {
  let transfers = 0
  const take = (exchange: ServerExchange, consent: () => void) => {
    exchange.request.on("error", () => undefined)
    exchange.response.on("error", () => undefined)
    const stranger = check(exchange.request.socket)
    if (stranger !== undefined) {
      answerError(exchange, refuse("untrusted", stranger))
      return
    }
    if (transfers >= options.transfersMax) {
      const message = `${options.transfersMax} transfers are running`
      answerError(exchange, refuse("overloaded", message))
      return
    }
    transfers += 1
    const done = Effect.sync(() => {
      transfers -= 1
    })
    run(serveChunk(exchange, { handlers: options.handlers, consent }).pipe(Effect.ensuring(done)))
  }
  server.on("request", (request, response) => take({ request, response }, () => undefined))
  server.on("checkContinue", (request, response) =>
    take({ request, response }, () => response.writeContinue())
  )
}

const listenWith = (tls: ChunkEndpointTls | undefined) =>
  Effect.fnUntraced(function* (options: ListenOptions) {
    const running = yield* FiberSet.make<void, never>()
    const run = yield* FiberSet.runtime(running)()
    const listener = yield* Effect.acquireRelease(
      tls === undefined ? plainListener : tlsListener(tls),
      ({ server }) => closeServer(server)
    )
    const { scheme, server } = listener
    server.maxConnections = 4 * options.transfersMax + 256
    serveRequests(listener, options, run)
    yield* listening(server, options)
    server.on("error", () => undefined)
    return { url: baseUrl(scheme, server.address()) }
  })

/** Chunk endpoints over HTTP, with TLS where it is given. */
export const layerChunkEndpointWith = (options: {
  readonly tls?: ChunkEndpointTls
}): Layer.Layer<ChunkEndpoint> => Layer.succeed(ChunkEndpoint, { listen: listenWith(options.tls) })

/** Chunk endpoints over plain HTTP. */
export const layerChunkEndpoint: Layer.Layer<ChunkEndpoint> = layerChunkEndpointWith({})
