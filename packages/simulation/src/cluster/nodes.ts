/** How each kind of node starts: the real service over watched memory ports. */
import { crc32 } from "node:zlib"
import { MemoryChunkPath } from "@holdfast/adapter-memory"
import { makeCatalogue } from "@holdfast/catalogue"
import {
  ArchiveClient,
  CatalogueClient,
  cataloguePlatform,
  ChunkClient,
  clientLayer,
  MetadataClient,
  PeerClient
} from "@holdfast/client"
import { foundCluster } from "@holdfast/cluster"
import { PeerId } from "@holdfast/keyspace"
import type { Messaging } from "@holdfast/messaging"
import { archivePipelineLayer } from "@holdfast/service-archive"
import { type ChunkServer, startChunkServer } from "@holdfast/service-chunk-server"
import { type MetadataService, startMetadataService } from "@holdfast/service-metadata"
import { hostApplication, hostCluster, Peer, StartRefused } from "@holdfast/service-peer"
import type { Worker } from "@holdfast/service-worker"
import { ChunkDevices, ChunkTransport } from "@holdfast/storage"
import { HostId, ringOfOne } from "@holdfast/wire"
import { Context, Effect, Layer, Option, Result } from "effect"
import { ledger } from "../workload/ledger.ts"
import { withLayer } from "./layers.ts"
import { SimulatedNode } from "./node.ts"
import { makePipelineNode } from "./pipeline-node.ts"
import {
  chunkServerSettings,
  clientSettings,
  mapSettings,
  peerTimes,
  workerSettings
} from "./settings.ts"
import { clusterId, mac, type Site } from "./site.ts"
import {
  devicesOf,
  journalOf,
  messagingOf,
  metadataMessagingOf,
  partitionsOf
} from "./watched-ports.ts"

/** Everything that a program may ask of a cluster. */
export type ClientServices =
  | ArchiveClient
  | CatalogueClient
  | ChunkClient
  | ChunkTransport
  | Messaging
  | MetadataClient
  | PeerClient

/** The applications of every peer. */
export const applications = [
  hostApplication(makeCatalogue(cataloguePlatform)),
  hostApplication(ledger)
]

/** The metadata service. */
export const makeMetadataNode = (site: Site): SimulatedNode<MetadataService> => {
  const name = "metadata"
  const disk = site.disk(name)
  return new SimulatedNode(site, {
    name,
    disks: [disk],
    start: () =>
      withLayer(
        Layer.merge(metadataMessagingOf(site, name), journalOf(site, name, disk)),
        startMetadataService({
          clusterId,
          ring: ringOfOne(mac),
          crc32: (bytes) => crc32(bytes),
          map: { ...mapSettings, ...site.seams.map },
          service: { invariantsMs: 5_000, compactBytes: 16 * 1024 }
        })
      )
  })
}

/** The directory of a device; its disk has the same name. */
export const directoryOf = (device: string): string => `/devices/${device}`

/** The disk of a host into which a copy of another one's may come. */
export const spareOf = (host: string): string => `spare-${host}`

/** A chunk server with its devices, which are formatted when it starts for the first time. */
export const makeHostNode = (
  site: Site,
  name: string,
  devices: ReadonlyArray<string>
): SimulatedNode<ChunkServer> => {
  const diskOf = (directory: string) => site.disk(directory.slice(directory.lastIndexOf("/") + 1))
  const spare = spareOf(name)
  const directories = () => {
    const isThere = site.disk(spare).cells(directoryOf(spare)).size > 0
    return (isThere ? [...devices, spare] : devices).map(directoryOf)
  }
  const formatMissing = Effect.gen(function* () {
    const ports = yield* ChunkDevices
    for (const device of devices) {
      const directory = directoryOf(device)
      if (site.disk(device).cells(directory).size > 0) continue
      yield* ports.format({ directory, clusterId, deviceId: device })
    }
  })
  const serve = (incarnation: number) =>
    startChunkServer({
      clusterId,
      hostId: HostId.make(name),
      incarnation,
      ring: ringOfOne(mac),
      listen: { host: name, port: 0 },
      devices: directories().map((directory) => ({
        directory,
        reservedBytes: 0,
        capacityBytes: Option.none()
      })),
      settings: chunkServerSettings
    })
  return new SimulatedNode(site, {
    name,
    disks: [...devices, spare].map(site.disk),
    start: (life) =>
      withLayer(
        Layer.mergeAll(
          messagingOf(site, name),
          devicesOf(site, name, diskOf),
          MemoryChunkPath.layerTransport(site.path, name),
          MemoryChunkPath.layerEndpoint(site.path, name)
        ),
        Effect.andThen(formatMissing, serve(life))
      )
  })
}

/** The cluster of peers, for whoever reads their disks. */
export const hostedCluster = hostCluster(
  Result.getOrThrow(foundCluster({ founders: [{ peer: PeerId.make("peer-1") }] }))
)

/** Refusals that a supervisor's next start does not change; an operator leaves the peer out. */
const finalRefusals = new Set<StartRefused["code"]>(["left", "ejected", "kept"])

const isOver = (error: unknown): boolean =>
  error instanceof StartRefused && finalRefusals.has(error.code)

/** A peer: one of the founders, or one that joins when it is started. */
export const makePeerNode = (
  site: Site,
  name: string,
  all: ReadonlyArray<string>
): SimulatedNode<Peer["Service"]> => {
  const disk = site.disk(name)
  const founders = all.map((each) => ({ peer: PeerId.make(each) }))
  const goAway = Effect.sync(() => {
    site.outside.add(name)
    node.stop()
  })
  const node: SimulatedNode<Peer["Service"]> = new SimulatedNode(site, {
    name,
    disks: [disk],
    start: () =>
      withLayer(
        Layer.provide(
          Peer.layer({
            cluster: clusterId,
            peer: PeerId.make(name),
            founders: all.includes(name) ? founders : [],
            applications,
            isReintegrated: true,
            times: peerTimes
          }),
          Layer.merge(messagingOf(site, name), partitionsOf(site, name, disk))
        ),
        Effect.tap(Peer, ({ ended }) =>
          Effect.forkScoped(
            Effect.flatMap(ended, (end) => (end === "fenced" ? Effect.void : goAway))
          )
        )
      ).pipe(Effect.tapError((error) => (isOver(error) ? goAway : Effect.void)))
  })
  return node
}

const clientOf = (site: Site, name: string) => {
  const transport = MemoryChunkPath.layerTransport(site.path, name)
  return clientLayer({ cluster: clusterId, sender: name, ...clientSettings }).pipe(
    Layer.provideMerge(Layer.merge(messagingOf(site, name), transport))
  )
}

/** A worker that archives every active archive; each stream is one archive of the same name. */
export const makeWorkerNode = (site: Site, name: string): SimulatedNode<Worker["Service"]> =>
  makePipelineNode(site, name, {
    settings: workerSettings,
    pipeline: archivePipelineLayer({ archiveOf: ({ shard }) => shard }),
    services: clientOf(site, name)
  })

/** A program that uses the cluster. */
export const makeClientNode = (
  site: Site,
  name: string
): SimulatedNode<Context.Context<ClientServices>> =>
  new SimulatedNode(site, {
    name,
    disks: [],
    start: () => withLayer(clientOf(site, name), Effect.context<ClientServices>())
  })
