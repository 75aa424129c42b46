/** A peer with the archive's catalogue, its store in a directory. */
import { filePartitionStore } from "@holdfast/adapter-file"
import { makeCatalogue } from "@holdfast/catalogue"
import { cataloguePlatform } from "@holdfast/client"
import { failure, sayReady } from "@holdfast/process"
import {
  hostApplication,
  type HostedApplication,
  Peer,
  type PeerTimes
} from "@holdfast/service-peer"
import type { ClusterId, PeerId } from "@holdfast/wire"
import { Context, Effect, Layer } from "effect"

/** Who the peer is, who founds the cluster, and where it keeps its partitions. */
export interface PeerProcessOptions {
  readonly cluster: ClusterId
  readonly peer: PeerId
  /** The founders, the same for each of them; a peer that is none of them joins. */
  readonly founders: ReadonlyArray<PeerId>
  /** What a peer that joins brings. */
  readonly capacity?: { readonly weight: number; readonly zone?: string }
  /** What it hosts beside the catalogue; each peer of a cluster is told the same. */
  readonly applications?: ReadonlyArray<HostedApplication>
  readonly directory: string
  /** Whether the store of a life that was ejected is handed over, and the next life begins. */
  readonly isReintegrated?: boolean
  readonly times?: Partial<PeerTimes>
}

/** Runs a peer for as long as the layer lives. */
export const peerProcess = ({
  applications = [],
  directory,
  founders,
  ...options
}: PeerProcessOptions) =>
  Peer.layer({
    ...options,
    founders: founders.map((peer) => ({ peer })),
    applications: [hostApplication(makeCatalogue(cataloguePlatform)), ...applications]
  }).pipe(Layer.provide(filePartitionStore({ directory, clusterId: options.cluster })))

/** Serves until the process is stopped, or the peer has left its cluster or was put out of it. */
export const servePeer = (peer: PeerId, context: Context.Context<Peer>) =>
  Effect.gen(function* () {
    const { ended } = Context.get(context, Peer)
    yield* sayReady(`peer ${peer}`)
    const end = yield* ended
    if (end === "left") process.stderr.write(`peer ${peer} has left the cluster\n`)
    else return yield* failure(`peer ${peer} serves no more: ${endReasons[end]}`)
  })

const endReasons = {
  fenced: "another process runs as the same peer",
  ejected: "it was ejected; with --reintegrate it hands over what only it holds, and joins again"
} as const
