/**
 * A whole cluster in one process: real services over a network in memory, everything they keep
 * under one directory, chunk bytes over loopback HTTP.
 *
 *     metadata ─┐                          ┌─ chunk servers ── devices/
 *     peers ────┼── network in memory ─────┤
 *     workers ──┘          │               └─ spool ◀── ingest
 *                  loopback HTTP ◀── a second terminal
 *
 * 1. One process at a time: the stores' own locks refuse a second one on the same directory.
 * 2. Each member can be stopped by itself, as a process would be.
 */
import { fileCheckpointStore, fileLease, fileSpool } from "@holdfast/adapter-file"
import { layerChunkTransport, serveLoopback } from "@holdfast/adapter-http"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { formatMissingDevices, runChunkServer } from "@holdfast/chunk-server-app"
import { ArchiveClient, clientLayer } from "@holdfast/client"
import { Messaging } from "@holdfast/messaging"
import { type MetadataMapSettings, metadataProcess } from "@holdfast/metadata-app"
import { peerProcess } from "@holdfast/peer-app"
import { createClusterKey, macWith, readClusterKey } from "@holdfast/process"
import { RecordSource } from "@holdfast/records"
import { type ClusterId, HostId, type Mac, PeerId, WorkerId } from "@holdfast/wire"
import { archiveShards, makeFloors, makeSpoolArchives, workerProcess } from "@holdfast/worker-app"
import { mkdirSync } from "node:fs"
import { Effect, Layer } from "effect"
import { type Layout, layoutOf } from "./layout.ts"
import { type Member, startMember } from "./member.ts"
import { serveSpool } from "./spool-service.ts"

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
  readonly mac: Mac
  readonly network: MemoryNetwork
}

const startMetadata = ({ layout, mac, network, options }: Site) =>
  startMember(
    "metadata",
    metadataProcess({
      cluster: options.cluster,
      mac,
      directory: layout.journal,
      map: options.map
    }).pipe(Layer.provide(MemoryNetwork.layer(network, "metadata")))
  )

const startHost = ({ layout, mac, network, options }: Site, id: string) =>
  Effect.gen(function* () {
    const host = yield* Effect.orDie(HostId.makeEffect(id))
    const device = layout.device(`${id}-disk`)
    yield* formatMissingDevices({ cluster: options.cluster, directories: [device] })
    const server = runChunkServer({
      cluster: options.cluster,
      host,
      mac,
      stateDirectory: layout.host(id),
      devices: [device],
      listen: { host: "127.0.0.1", port: 0 },
      reservedBytes
    })
    return yield* startMember(
      id,
      Layer.effectDiscard(server).pipe(Layer.provide(MemoryNetwork.layer(network, id)))
    )
  })

const startPeers = ({ layout, network, options }: Site) =>
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
          peers,
          directory: layout.peer(peer)
        }).pipe(Layer.provide(MemoryNetwork.layer(network, peer)))
      )
    )
  })

/** The stores that the workers of this process share, and the spool they read. */
const sharedStores = ({ layout, options }: Site) => {
  const clusterId = options.cluster
  return Layer.mergeAll(
    fileCheckpointStore({ directory: layout.checkpoints, clusterId }),
    fileLease({ directory: layout.leases, clusterId }),
    fileSpool({ directory: layout.spool, clusterId })
  )
}

const spoolArchives = (floors: ReturnType<typeof makeFloors>) =>
  Layer.effect(
    RecordSource,
    Effect.gen(function* () {
      const spool = yield* RecordSource
      const archives = yield* Effect.context<ArchiveClient>()
      return makeSpoolArchives({
        spool,
        shards: Effect.provide(archiveShards, archives),
        floors
      })
    })
  )

const startWorkers = (site: Site) =>
  Effect.gen(function* () {
    const { network, options } = site
    const floors = makeFloors()
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
            Layer.provide(spoolArchives(floors)),
            Layer.provide(client),
            Layer.provide(Layer.mergeAll(MemoryNetwork.layer(network, id), layerChunkTransport))
          )
        )
      })
    )
  })

/** Starts a cluster; it stops, workers first, when the scope closes. */
export const startEmbedded = Effect.fnUntraced(function* (options: EmbeddedOptions) {
  const layout = layoutOf(options.directory)
  mkdirSync(options.directory, { recursive: true, mode: 0o700 })
  yield* createClusterKey(layout.key)
  const mac = macWith(yield* readClusterKey(layout.key))
  const network = yield* MemoryNetwork.make()
  const site: Site = { options, layout, mac, network }
  yield* startMetadata(site)
  const hosts = yield* Effect.forEach(names("host-", options.hosts), (id) => startHost(site, id))
  const peers = yield* startPeers(site)
  const stores = yield* Layer.build(sharedStores(site))
  yield* serveSpool(options.cluster).pipe(
    Effect.provide(stores),
    Effect.provide(yield* Layer.build(MemoryNetwork.layer(network, "spool")))
  )
  const workers = yield* Effect.provide(startWorkers(site), stores)
  const messaging = MemoryNetwork.layer(network, "client")
  const loopback = { accessFile: layout.access, port: options.port }
  const { url } = yield* serveLoopback({ ...loopback, requestsMax: loopbackRequestsMax }).pipe(
    Effect.provide(yield* Layer.build(messaging))
  )
  const cluster: EmbeddedCluster = { url, hosts, peers, workers, messaging }
  return cluster
})
