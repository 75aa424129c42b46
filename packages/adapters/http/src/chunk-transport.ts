/** The ChunkTransport port over HTTP, on connections that are kept and counted. */
import { Agent } from "node:http"
import { ChunkTransport } from "@holdfast/storage"
import { Effect, Layer } from "effect"
import { readChunk, writeChunk } from "./chunk-client.ts"

/** Limits of a client. */
export interface ChunkTransportLimits {
  /** Connections to one server; one more exchange waits, within its deadline. */
  readonly connectionsPerServerMax: number
  /** Connections to all servers. */
  readonly connectionsMax: number
}

const defaultLimits: ChunkTransportLimits = { connectionsPerServerMax: 64, connectionsMax: 256 }

/** Idle connections are closed well before the servers do so. */
const idleMs = 20_000

/** A client whose connections go with the layer. */
export const layerChunkTransportWith = (
  limits: ChunkTransportLimits
): Layer.Layer<ChunkTransport> =>
  Layer.effect(
    ChunkTransport,
    Effect.acquireRelease(
      Effect.sync(
        () =>
          new Agent({
            keepAlive: true,
            maxSockets: limits.connectionsPerServerMax,
            maxTotalSockets: limits.connectionsMax,
            maxFreeSockets: 8,
            timeout: idleMs
          })
      ),
      (agent) => Effect.sync(() => agent.destroy())
    ).pipe(
      Effect.map((agent) => ({
        write: (options) => writeChunk(agent, options),
        read: (options) => readChunk(agent, options)
      }))
    )
  )

/** A client with the usual limits. */
export const layerChunkTransport: Layer.Layer<ChunkTransport> =
  layerChunkTransportWith(defaultLimits)
