/**
 * A whole cluster of real services in one process, under virtual time.
 *
 *     metadata ─┐                                 ┌─ host-1 ── device-1-1, device-1-2
 *     peer-1.. ─┼── memory network with faults ───┼─ host-2 ── ...
 *     worker-1..┘        │                        └─ ...
 *     client-1.. ────────┘      streams, checkpoints and leases: a broker that all workers share
 */
import type { ChunkServer } from "@holdfast/service-chunk-server"
import type { MetadataService } from "@holdfast/service-metadata"
import type { Peer } from "@holdfast/service-peer"
import type { Worker } from "@holdfast/service-worker"
import type { Context } from "effect"
import type { SimulatedNode } from "./node.ts"
import {
  type ClientServices,
  makeClientNode,
  makeHostNode,
  makeMetadataNode,
  makePeerNode,
  makeWorkerNode,
  spareOf
} from "./nodes.ts"
import type { Site } from "./site.ts"
import { makeStageNode } from "./stage-node.ts"

/** How many nodes of each kind. */
export interface ClusterShape {
  readonly hosts: number
  readonly devicesPerHost: number
  readonly peers: number
  /** Peers that are there to join later. */
  readonly spares?: number
  readonly workers: number
  /** What the workers do with records; they archive them where nothing is said. */
  readonly pipeline?: "archive" | "stage"
  readonly clients: number
}

/** A simulated cluster. */
export interface SimulatedCluster {
  readonly site: Site
  readonly shape: ClusterShape
  readonly metadata: SimulatedNode<MetadataService>
  readonly hosts: ReadonlyArray<SimulatedNode<ChunkServer>>
  readonly peers: ReadonlyArray<SimulatedNode<Peer["Service"]>>
  readonly workers: ReadonlyArray<SimulatedNode<Worker["Service"]>>
  readonly clients: ReadonlyArray<SimulatedNode<Context.Context<ClientServices>>>
  readonly devices: ReadonlyArray<string>
  /** The nodes that faults may meet, by name; clients are not among them. */
  readonly servers: ReadonlyMap<string, SimulatedNode<unknown>>
}

const names = (prefix: string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`)

const devicesOf = (host: string, count: number): ReadonlyArray<string> =>
  names(host.replace("host", "device"), count)

/** The founders, and behind them those who may join. */
const peerNames = ({ peers, spares = 0 }: ClusterShape): ReadonlyArray<string> =>
  names("peer", peers + spares)

/** The names of all disks of a shape. */
const diskNames = (shape: ClusterShape): ReadonlyArray<string> => [
  "metadata",
  ...peerNames(shape),
  ...names("host", shape.hosts).flatMap((host) => [
    ...devicesOf(host, shape.devicesPerHost),
    spareOf(host)
  ])
]

/** The names of the nodes that faults may meet. */
export const serverNames = (shape: ClusterShape): ReadonlyArray<string> => [
  "metadata",
  ...names("host", shape.hosts),
  ...peerNames(shape),
  ...names("worker", shape.workers)
]

/** The names of the devices. */
export const deviceNames = (shape: ClusterShape): ReadonlyArray<string> =>
  names("host", shape.hosts).flatMap((host) => devicesOf(host, shape.devicesPerHost))

/** Makes a cluster's nodes; none is started. */
export const makeCluster = (site: Site, shape: ClusterShape): SimulatedCluster => {
  for (const disk of diskNames(shape)) site.disk(disk)
  const founders = names("peer", shape.peers)
  const metadata = makeMetadataNode(site)
  const hosts = names("host", shape.hosts).map((host) =>
    makeHostNode(site, host, devicesOf(host, shape.devicesPerHost))
  )
  const peers = peerNames(shape).map((peer) => makePeerNode(site, peer, founders))
  for (const { name } of peers.slice(shape.peers)) site.outside.add(name)
  const makeWorker = shape.pipeline === "stage" ? makeStageNode : makeWorkerNode
  const workers = names("worker", shape.workers).map((worker) => makeWorker(site, worker))
  const clients = names("client", shape.clients).map((client) => makeClientNode(site, client))
  const servers = new Map<string, SimulatedNode<unknown>>()
  for (const node of [metadata, ...hosts, ...peers, ...workers]) servers.set(node.name, node)
  return {
    site,
    shape,
    metadata,
    hosts,
    peers,
    workers,
    clients,
    devices: deviceNames(shape),
    servers
  }
}

/** Starts every node that is down. */
export const startAll = (cluster: SimulatedCluster): void => {
  for (const node of cluster.servers.values()) node.start()
  for (const node of cluster.clients) node.start()
}

/** Whether every node is up that is to run. */
export const isAllUp = (cluster: SimulatedCluster): boolean =>
  [...cluster.servers.values(), ...cluster.clients].every(
    ({ isOutside, isUp }) => isUp || isOutside
  )
