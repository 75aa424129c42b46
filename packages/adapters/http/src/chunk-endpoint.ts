/**
 * The ChunkEndpoint port over HTTP: what a chunk server listens with.
 *
 * 1. Nothing of a request reaches a handler before its path, headers and sizes were checked.
 * 2. With `Expect: 100-continue` no byte is sent before the handler asks for the first one.
 * 3. At most `transfersMax` transfers run; one more is answered `overloaded` at once.
 * 4. When the scope closes, no connection is taken any more, and transfers that run end first.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { ChunkEndpoint, ChunkTransportError } from "@holdfast/storage"
import { Effect, FiberSet, Layer } from "effect"
import { answerError, type ServerExchange } from "./chunk-answer.ts"
import { headerBytesMax } from "./chunk-exchange.ts"
import { sendBufferBytes } from "./chunk-request.ts"
import { serveChunk } from "./chunk-serve.ts"

type ListenOptions = Parameters<(typeof ChunkEndpoint)["Service"]["listen"]>[0]

const headersTimeoutMs = 10_000
const keepAliveMs = 60_000
/** How long closing waits for transfers; each has its own, shorter deadlines. */
const drainMs = 30_000
const idleCheckMs = 20

const refuse = (code: ChunkTransportError["code"], message: string) =>
  new ChunkTransportError({ code, deviceId: "", message })

const makeServer = (options: ListenOptions): Server => {
  const server = createServer({
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersTimeoutMs,
    // A transfer may be long; its own deadline between bytes is what bounds it.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    highWaterMark: sendBufferBytes
  })
  server.maxConnections = 4 * options.transfersMax + 256
  return server
}

const listening = (server: Server, options: ListenOptions) =>
  Effect.callback<void, ChunkTransportError>((resume) => {
    server.once("error", (error) => resume(Effect.fail(refuse("unavailable", error.message))))
    server.listen(options.port, options.host, () => resume(Effect.void))
  })

const baseUrl = (address: AddressInfo | string | null): string => {
  if (address === null || typeof address === "string") return ""
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
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
  server: Server,
  options: ListenOptions,
  run: (act: Effect.Effect<void>) => void
): void => {
  let transfers = 0
  const take = (exchange: ServerExchange, consent: () => void) => {
    exchange.request.on("error", () => undefined)
    exchange.response.on("error", () => undefined)
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

const listen = Effect.fnUntraced(function* (options: ListenOptions) {
  const running = yield* FiberSet.make<void, never>()
  const run = yield* FiberSet.runtime(running)()
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => makeServer(options)),
    closeServer
  )
  serveRequests(server, options, run)
  yield* listening(server, options)
  server.on("error", () => undefined)
  return { url: baseUrl(server.address()) }
})

/** Chunk endpoints over HTTP. */
export const layerChunkEndpoint: Layer.Layer<ChunkEndpoint> = Layer.succeed(ChunkEndpoint, {
  listen
})
