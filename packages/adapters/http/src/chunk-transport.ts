/** The ChunkTransport port over HTTP, on connections that are kept and counted. */
import { ChunkTransport } from "@holdfast/storage"
import { Effect, Layer } from "effect"
import { readChunk, writeChunk } from "./chunk-client.ts"
import { type ChunkTransportLimits, makeConnections } from "./chunk-connections.ts"
import type { FollowedTls } from "./followed-tls.ts"

/** How a client connects. */
export interface ChunkTransportOptions {
  readonly limits?: ChunkTransportLimits
  /** Whom it trusts, and who it is; absent, the system's authorities are trusted. */
  readonly tls?: FollowedTls
  /** Refuse chunk servers whose address is one of plain `http://`; they are let be by default. */
  readonly requiresTls?: boolean
}

const defaultLimits: ChunkTransportLimits = { connectionsPerServerMax: 64, connectionsMax: 256 }

/** A client whose connections go with the layer. */
export const layerChunkTransportWith = ({
  limits = defaultLimits,
  requiresTls = false,
  tls
}: ChunkTransportOptions): Layer.Layer<ChunkTransport> =>
  Layer.effect(
    ChunkTransport,
    Effect.map(
      makeConnections({ limits, requiresTls, tls }),
      (connections): ChunkTransport["Service"] => ({
        write: (wanted) => writeChunk(connections, wanted),
        read: (wanted) => readChunk(connections, wanted)
      })
    )
  )

/** A client with the usual limits, which trusts the system's authorities. */
export const layerChunkTransport: Layer.Layer<ChunkTransport> = layerChunkTransportWith({})
