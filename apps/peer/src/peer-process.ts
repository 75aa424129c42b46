/** A peer with the archive's catalogue, its store in a directory. */
import { filePartitionStore } from "@holdfast/adapter-file"
import { makeCatalogue } from "@holdfast/catalogue"
import { cataloguePlatform } from "@holdfast/client"
import { hostApplication, Peer, type PeerTimes } from "@holdfast/service-peer"
import type { ClusterId, PeerId } from "@holdfast/wire"
import { Layer } from "effect"

/** Who the peer is, who founds the cluster, and where it keeps its partitions. */
export interface PeerProcessOptions {
  readonly cluster: ClusterId
  readonly peer: PeerId
  /** The founders, the same for each of them; a peer that is none of them joins. */
  readonly founders: ReadonlyArray<PeerId>
  /** What a peer that joins brings. */
  readonly capacity?: { readonly weight: number; readonly zone?: string }
  readonly directory: string
  readonly times?: Partial<PeerTimes>
}

/** Runs a peer for as long as the layer lives. */
export const peerProcess = ({ directory, founders, ...options }: PeerProcessOptions) =>
  Peer.layer({
    ...options,
    founders: founders.map((peer) => ({ peer })),
    applications: [hostApplication(makeCatalogue(cataloguePlatform))]
  }).pipe(Layer.provide(filePartitionStore({ directory, clusterId: options.cluster })))
