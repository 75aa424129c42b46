/** A peer with the archive's catalogue, its store in a directory. */
import { filePartitionStore } from "@holdfast/adapter-file"
import { makeCatalogue } from "@holdfast/catalogue"
import { cataloguePlatform } from "@holdfast/client"
import { distribute, type PeerId } from "@holdfast/keyspace"
import { failure } from "@holdfast/process"
import { hostApplication, Peer, type PeerTimes } from "@holdfast/service-peer"
import type { ClusterId } from "@holdfast/wire"
import { Effect, Layer, Result } from "effect"

/** Who the peer is, who the others are, and where it keeps its partitions. */
export interface PeerProcessOptions {
  readonly cluster: ClusterId
  readonly peer: PeerId
  /** All peers of the cluster, this one included; every peer must be told the same. */
  readonly peers: ReadonlyArray<PeerId>
  readonly directory: string
  readonly times?: Partial<PeerTimes>
}

/** Runs a peer for as long as the layer lives. */
export const peerProcess = (options: PeerProcessOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const members = options.peers.map((peer) => ({ peer }))
      const distribution = distribute({ members, epoch: 0 })
      if (Result.isFailure(distribution)) return yield* failure(distribution.failure.message)
      return Peer.layer({
        cluster: options.cluster,
        peer: options.peer,
        distribution: distribution.success,
        applications: [hostApplication(makeCatalogue(cataloguePlatform))],
        ...(options.times === undefined ? {} : { times: options.times })
      }).pipe(
        Layer.provide(
          filePartitionStore({ directory: options.directory, clusterId: options.cluster })
        )
      )
    })
  )
