/**
 * A whole cluster in one process: real services over a network in memory (or over NATS), everything
 * they keep under one directory, chunk bytes over loopback HTTP.
 *
 *     metadata ─┐                          ┌─ chunk servers ── devices/
 *     peers ────┼── network in memory ─────┤
 *     workers ──┘          │               └─ spool ◀── ingest
 *                  loopback HTTP ◀── a second terminal
 *
 * 1. One process at a time: the stores' own locks refuse a second one on the same directory.
 * 2. Each member can be stopped by itself, as a process would be.
 */
import { layerChunkTransport, serveLoopback } from "@holdfast/adapter-http"
import type { NatsConnections, NatsError } from "@holdfast/adapter-nats"
import { formatMissingDevices, runChunkServer } from "@holdfast/chunk-server-app"
import { clientLayer } from "@holdfast/client"
import { Messaging } from "@holdfast/messaging"
import { type MetadataMapSettings, metadataProcess } from "@holdfast/metadata-app"
import { peerProcess } from "@holdfast/peer-app"
import { type CommandFailure, createClusterKey, openKeyRing } from "@holdfast/process"
import { type ClusterId, HostId, type MacRing, PeerId, WorkerId } from "@holdfast/wire"
import { workerProcess } from "@holdfast/worker-app"
import { mkdirSync } from "node:fs"
import { Effect, Layer, Option } from "effect"
import { aloneGround, type Ground, natsGround } from "./ground.ts"
import { type Layout, layoutOf } from "./layout.ts"
import { type Member, startMember } from "./member.ts"

/** How large the cluster is and where it lives. */
export interface EmbeddedOptions {
  readonly cluster: ClusterId
  readonly directory: string
  /** Chunk servers, each with one device. */
  readonly hosts: number
  readonly peers: number
  readonly workers: number
  /** The port for other terminals, 0 for any. */
  readonly port: number
  readonly map: MetadataMapSettings
  readonly workerSettings: Readonly<Record<string, unknown>>
  /** Stand on NATS instead of a network in memory. */
  readonly nats: Option.Option<Layer.Layer<NatsConnections, CommandFailure | NatsError>>
}

/** A running cluster. */
export interface EmbeddedCluster {
  readonly url: string
  readonly hosts: ReadonlyArray<Member>
  readonly peers: ReadonlyArray<Member>
  readonly workers: ReadonlyArray<Member>
  /** A node of the network for clients in this process. */
  readonly messaging: Layer.Layer<Messaging>
}

/** Bytes of the disk that no device writes. */
const reservedBytes = 64 * 1024 * 1024
const loopbackRequestsMax = 64

const names = (prefix: string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)

interface Site {
  readonly options: EmbeddedOptions
  readonly layout: Layout
  readonly ring: MacRing
  readonly ground: Ground
}

const startMetadata = ({ ground, layout, options, ring }: Site) =>
  startMember(
    "metadata",
    metadataProcess({
      cluster: options.cluster,
      ring,
      directory: layout.journal,
      map: options.map
    }).pipe(Layer.provide(ground.messaging("metadata")))
  )

const startHost = ({ ground, layout, options, ring }: Site, id: string) =>
  Effect.gen(function* () {
    const host = yield* Effect.orDie(HostId.makeEffect(id))
    const device = layout.device(`${id}-disk`)
    yield* formatMissingDevices({ cluster: options.cluster, directories: [device] })
    const server = runChunkServer({
      cluster: options.cluster,
      host,
      ring,
      stateDirectory: layout.host(id),
      devices: [device],
      listen: { host: "127.0.0.1", port: 0 },
      reservedBytes
    })
    return yield* startMember(
      id,
      Layer.effectDiscard(server).pipe(Layer.provide(ground.messaging(id)))
    )
  })

const startPeers = ({ ground, layout, options }: Site) =>
  Effect.gen(function* () {
    const peers = yield* Effect.forEach(names("peer-", options.peers), (id) =>
      Effect.orDie(PeerId.makeEffect(id))
    )
    return yield* Effect.forEach(peers, (peer) =>
      startMember(
        peer,
        peerProcess({
          cluster: options.cluster,
          peer,
          founders: peers,
          directory: layout.peer(peer)
        }).pipe(Layer.provide(ground.messaging(peer)))
      )
    )
  })

const startWorkers = (site: Site) =>
  Effect.gen(function* () {
    const { ground, options } = site
    return yield* Effect.forEach(names("worker-", options.workers), (id) =>
      Effect.gen(function* () {
        const worker = yield* Effect.orDie(WorkerId.makeEffect(id))
        const client = clientLayer({ cluster: options.cluster, sender: id })
        return yield* startMember(
          id,
          workerProcess({
            cluster: options.cluster,
            worker,
            settings: options.workerSettings
          }).pipe(
            Layer.provide(ground.workerPorts),
            Layer.provide(client),
            Layer.provide(Layer.mergeAll(ground.messaging(id), layerChunkTransport))
          )
        )
      })
    )
  })

const groundOf = (options: EmbeddedOptions, layout: Layout) =>
  Option.match(options.nats, {
    onNone: () => aloneGround({ cluster: options.cluster, layout }),
    onSome: (connections) =>
      Effect.flatMap(Layer.build(connections), (context) =>
        Effect.provide(natsGround(options.cluster), context)
      )
  })

/** Starts a cluster; it stops, workers first, when the scope closes. */
export const startEmbedded = Effect.fnUntraced(function* (options: EmbeddedOptions) {
  const layout = layoutOf(options.directory)
  mkdirSync(options.directory, { recursive: true, mode: 0o700 })
  yield* createClusterKey(layout.key)
  const ring = yield* openKeyRing(layout.key)
  const ground = yield* groundOf(options, layout)
  const site: Site = { options, layout, ring, ground }
  yield* startMetadata(site)
  const hosts = yield* Effect.forEach(names("host-", options.hosts), (id) => startHost(site, id))
  const peers = yield* startPeers(site)
  const workers = yield* startWorkers(site)
  const messaging = ground.messaging("client")
  const loopback = { accessFile: layout.access, port: options.port }
  const { url } = yield* serveLoopback({ ...loopback, requestsMax: loopbackRequestsMax }).pipe(
    Effect.provide(yield* Layer.build(messaging))
  )
  const cluster: EmbeddedCluster = { url, hosts, peers, workers, messaging }
  return cluster
})
