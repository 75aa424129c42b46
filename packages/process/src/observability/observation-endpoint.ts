/**
 * The HTTP endpoint that watches a process.
 *
 *     GET /metrics   Prometheus text
 *     GET /health    200 while the process lives: a failure means that it must be started again
 *     GET /ready     200 when it is able to serve, else 503 and a line for each thing it misses
 *
 * It is bound before the service starts, so that a start that hangs can be seen. It serves a
 * bounded number of connections, each within a deadline, and reads no body.
 */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, type Scope } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { type CommandFailure, failure } from "../command-failure.ts"
import type { Readiness } from "./readiness.ts"

const connectionsMax = 64
const requestDeadlineMs = 10_000
const headerBytesMax = 8_192

const plain = { contentType: "text/plain; charset=utf-8" }

/** Serves until the scope closes; fails with a sentence when the address cannot be had. */
export const serveObservations = (options: {
  /** `HOST:PORT`. */
  readonly address: string
  readonly readiness: Readiness
  /** Brings gauges up to date before each scrape. */
  readonly collect: Effect.Effect<void>
}): Effect.Effect<void, CommandFailure, Scope.Scope> => {
  const { address, collect, readiness } = options
  const metrics = Effect.gen(function* () {
    yield* collect
    const text = yield* PrometheusMetrics.format()
    const contentType = "text/plain; version=0.0.4; charset=utf-8"
    return HttpServerResponse.text(text, { contentType })
  })
  const ready = Effect.map(readiness.missing, (missing) =>
    missing.length === 0
      ? HttpServerResponse.text("ready\n", plain)
      : HttpServerResponse.text(`${missing.join("\n")}\n`, { ...plain, status: 503 })
  )
  const routes = HttpRouter.use((router) =>
    Effect.all(
      [
        router.add("GET", "/metrics", metrics),
        router.add("GET", "/health", Effect.succeed(HttpServerResponse.text("alive\n", plain))),
        router.add("GET", "/ready", ready)
      ],
      { discard: true }
    )
  )
  const server = NodeHttpServer.layer(makeServer, placeOf(address))
  const layer = HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
    Layer.provide(server)
  )
  return Layer.build(layer).pipe(
    Effect.asVoid,
    Effect.mapError((error) =>
      failure(`--metrics ${address} cannot be listened on: ${String(error.cause)}`)
    )
  )
}

const makeServer = () => {
  const server = createServer({
    maxHeaderSize: headerBytesMax,
    requestTimeout: requestDeadlineMs,
    headersTimeout: requestDeadlineMs,
    keepAliveTimeout: requestDeadlineMs
  })
  server.maxConnections = connectionsMax
  return server
}

const placeOf = (address: string): { readonly host: string; readonly port: number } => {
  const at = address.lastIndexOf(":")
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(address.slice(at + 1)) }
}
