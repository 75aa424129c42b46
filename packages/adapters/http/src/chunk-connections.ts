/**
 * The kept connections of a client, plain ones and those over TLS; which of them is used is said by
 * the address that the chunk server announces.
 */
import { Agent, type ClientRequest, request, type RequestOptions } from "node:http"
import { Agent as TlsAgent, request as requestOverTls } from "node:https"
import { Effect, type Scope } from "effect"
import type { FollowedTls } from "./followed-tls.ts"

/** Limits of a client, for each of the two kinds of connections. */
export interface ChunkTransportLimits {
  /** Connections to one server; one more exchange waits, within its deadline. */
  readonly connectionsPerServerMax: number
  /** Connections to all servers. */
  readonly connectionsMax: number
}

/** Begins requests on connections that are kept. */
export interface ChunkConnections {
  /** Whether an address of plain `http://` is refused. */
  readonly requiresTls: boolean
  readonly request: (url: URL, options: RequestOptions) => ClientRequest
}

/** Idle connections are closed well before the servers do so. */
const idleMs = 20_000

/** Connections that end with the scope; without certificates the system's authorities count. */
export const makeConnections = ({
  limits,
  requiresTls,
  tls
}: {
  readonly limits: ChunkTransportLimits
  readonly requiresTls: boolean
  readonly tls: FollowedTls | undefined
}): Effect.Effect<ChunkConnections, never, Scope.Scope> => {
  const kept = {
    keepAlive: true,
    maxSockets: limits.connectionsPerServerMax,
    maxTotalSockets: limits.connectionsMax,
    maxFreeSockets: 8,
    timeout: idleMs
  }
  return Effect.acquireRelease(
    Effect.sync(() => ({
      plain: new Agent(kept),
      // A session that is taken up again would not have the server's certificate looked at.
      secure: new TlsAgent({ ...kept, maxCachedSessions: 0, rejectUnauthorized: true })
    })),
    ({ plain, secure }) =>
      Effect.sync(() => {
        plain.destroy()
        secure.destroy()
      })
  ).pipe(
    Effect.map(({ plain, secure }) => ({
      requiresTls,
      request: (url, options) => {
        if (url.protocol !== "https:") return request(url, { ...options, agent: plain })
        const context = tls === undefined ? {} : { secureContext: tls.present().context }
        return requestOverTls(url, { ...options, ...context, agent: secure })
      }
    }))
  )
}
