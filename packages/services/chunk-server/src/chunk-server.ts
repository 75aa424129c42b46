/**
 * The chunk server: devices on one side, clients and the metadata service on the other.
 *
 *     clients, other servers ◀──HTTP──▶ data path ──▶ devices ◀── scrubbing
 *                                                       ▲
 *     metadata service ◀──heartbeats, reports── commands ┘
 *
 * 1. A receipt or an outcome leaves only when what it says is durable.
 * 2. Heartbeats go on whatever the devices, the transfers and the commands do.
 * 3. Stopping: a goodbye first, then the transfers that run, then the devices.
 */
import { Messaging, type MessagingError } from "@holdfast/messaging"
import {
  type ChunkDevices,
  ChunkEndpoint,
  ChunkTransport,
  type ChunkTransportError
} from "@holdfast/storage"
import { ChunkServerOperations, serveOperation } from "@holdfast/wire"
import { Effect, type Scope } from "effect"
import { startCommands } from "./commands.ts"
import { declareCounters } from "./counters.ts"
import { makeDeviceSet } from "./device-set.ts"
import { beatForEver, type Heart, sayGoodbye } from "./heartbeat.ts"
import { showForEver } from "./metrics.ts"
import { type ChunkServerOptions, type ChunkServerSettings, defaultSettings } from "./options.ts"
import { scrubForEver } from "./scrub.ts"
import { serveRead } from "./serve-read.ts"
import { type DataPath, serveWrite } from "./serve-write.ts"
import { type ChunkServerStatus, statusOf } from "./status.ts"
import { makeServiceTime } from "./service-time.ts"
import { makeTelling } from "./telling.ts"

/** A chunk server that runs. */
export interface ChunkServer {
  /** The base URL that it tells others. */
  readonly url: string
  readonly status: Effect.Effect<ChunkServerStatus>
}

/** The ports a chunk server stands on. */
export type ChunkServerPorts = ChunkDevices | ChunkEndpoint | ChunkTransport | Messaging

const listen = Effect.fnUntraced(function* (
  options: ChunkServerOptions,
  settings: ChunkServerSettings,
  path: DataPath
) {
  const endpoint = yield* ChunkEndpoint
  const transport = yield* ChunkTransport
  return yield* endpoint.listen({
    ...options.listen,
    transfersMax: settings.transfersMax,
    handlers: {
      write: (request) =>
        serveWrite(path, request).pipe(Effect.provideService(ChunkTransport, transport)),
      read: (request) => serveRead(path, request)
    }
  })
})

const serveStatus = (heart: Heart) =>
  serveOperation(ChunkServerOperations.chunkServerStatus, {
    cluster: heart.options.clusterId,
    instance: heart.options.hostId,
    concurrency: 2,
    backlog: 16,
    handler: () => Effect.map(statusOf(heart), (response) => ({ response }))
  })

/** Starts a chunk server; it stops when the scope closes. */
export const startChunkServer = Effect.fnUntraced(function* (
  options: ChunkServerOptions
): Effect.fn.Return<
  ChunkServer,
  ChunkTransportError | MessagingError,
  ChunkServerPorts | Scope.Scope
> {
  const settings = { ...defaultSettings, ...options.settings }
  const messaging = yield* Messaging
  const telling = makeTelling()
  const devices = yield* makeDeviceSet(options, settings, (device) =>
    Effect.andThen(
      telling.hasNews.open,
      Effect.asVoid(Effect.forkScoped(scrubForEver(device, telling, settings)))
    )
  )
  const { clusterId, ring } = options
  const time = makeServiceTime()
  const { url: listenedUrl } = yield* listen(options, settings, {
    key: { clusterId, ring, time },
    devices,
    telling
  })
  const url = options.advertisedUrl ?? listenedUrl
  const commands = yield* startCommands({ devices, telling, settings })
  const heart: Heart = {
    options,
    settings,
    url,
    telling,
    payloadBytesMax: messaging.maxPayloadBytes,
    devices,
    commands,
    time,
    sequence: 0,
    lastAnswered: undefined,
    silence: undefined
  }
  yield* serveStatus(heart)
  yield* Effect.addFinalizer(() => sayGoodbye(heart))
  yield* Effect.forkScoped(beatForEver(heart))
  yield* declareCounters
  yield* Effect.forkScoped(showForEver(heart))
  return { url, status: statusOf(heart) }
})
