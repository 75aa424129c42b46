/** A chunk server on plain files and HTTP. */
import { layerChunkDevices } from "@holdfast/adapter-file"
import {
  type ChunkEndpointTls,
  layerChunkEndpointWith,
  layerChunkTransport
} from "@holdfast/adapter-http"
import { type ChunkServerSettings, startChunkServer } from "@holdfast/service-chunk-server"
import { ChunkDevices, type ChunkTransport } from "@holdfast/storage"
import type { ClusterId, HostId, MacRing } from "@holdfast/wire"
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect, Layer, Option } from "effect"
import { raiseIncarnation } from "./incarnation.ts"

/** Who the server is, which directories it serves, and where it listens. */
export interface ChunkServerProcessOptions {
  readonly cluster: ClusterId
  readonly host: HostId
  readonly ring: MacRing
  /** Where the host keeps its own small state. */
  readonly stateDirectory: string
  readonly devices: ReadonlyArray<string>
  readonly listen: { readonly host: string; readonly port: number }
  readonly advertisedUrl?: string
  /** Certificates to serve TLS with; absent, chunks are served in plain text. */
  readonly endpointTls?: ChunkEndpointTls
  /** How other chunk servers are reached; absent, as the system's authorities allow. */
  readonly transport?: Layer.Layer<ChunkTransport>
  /** Where it stands; absent where racks are not told apart. */
  readonly rack?: string
  /** Bytes of each disk that are never written. */
  readonly reservedBytes: number
  readonly settings?: Partial<ChunkServerSettings>
}

/** The file that makes a directory a device. */
const identityFile = "identity"

/** Makes devices of directories that are not there yet; those that exist are left as they are. */
export const formatMissingDevices = (options: {
  readonly cluster: ClusterId
  readonly directories: ReadonlyArray<string>
}) =>
  Effect.gen(function* () {
    const devices = yield* ChunkDevices
    yield* Effect.forEach(
      options.directories.filter((directory) => !existsSync(join(directory, identityFile))),
      (directory) =>
        Effect.gen(function* () {
          yield* Effect.promise(() => mkdir(directory, { recursive: true }))
          const deviceId = basename(directory)
          yield* devices.format({ directory, clusterId: options.cluster, deviceId })
        }),
      { discard: true }
    )
  }).pipe(Effect.provide(layerChunkDevices))

/** Runs a chunk server until the scope closes. */
export const runChunkServer = Effect.fnUntraced(function* (options: ChunkServerProcessOptions) {
  const incarnation = yield* raiseIncarnation(options.stateDirectory)
  const layer = yield* Layer.build(
    Layer.mergeAll(
      layerChunkDevices,
      layerChunkEndpointWith(options.endpointTls === undefined ? {} : { tls: options.endpointTls }),
      options.transport ?? layerChunkTransport
    )
  )
  return yield* startChunkServer({
    clusterId: options.cluster,
    hostId: options.host,
    incarnation,
    ring: options.ring,
    listen: options.listen,
    ...(options.advertisedUrl === undefined ? {} : { advertisedUrl: options.advertisedUrl }),
    ...(options.rack === undefined ? {} : { rack: options.rack }),
    devices: options.devices.map((directory) => ({
      directory,
      reservedBytes: options.reservedBytes,
      capacityBytes: Option.none()
    })),
    ...(options.settings === undefined ? {} : { settings: options.settings })
  }).pipe(Effect.provide(layer))
})
