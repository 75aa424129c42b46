/**
 * What an embedded cluster stands on: how its members talk, and where its workers' records and
 * progress are.
 *
 *     alone       a network in memory; a spool, checkpoints and leases in files
 *     on NATS     the servers that are named; JetStream streams, checkpoints and leases
 */
import { fileCheckpointStore, fileLease, fileSpool } from "@holdfast/adapter-file"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { NatsConnections, natsMessagingLayer } from "@holdfast/adapter-nats"
import { ArchiveClient } from "@holdfast/client"
import { Messaging } from "@holdfast/messaging"
import { RecordSource } from "@holdfast/records"
import type { ClusterId } from "@holdfast/wire"
import {
  archiveShards,
  jetStreamPorts,
  makeFloors,
  makeSpoolArchives,
  spoolDeadLetters,
  type WorkerPorts
} from "@holdfast/worker-app"
import { Effect, Layer } from "effect"
import type { Layout } from "./layout.ts"
import { serveSpool } from "./spool-service.ts"

/** What a cluster stands on. */
export interface Ground {
  /** The Messaging of a member, by its name. */
  readonly messaging: (node: string) => Layer.Layer<Messaging>
  /** What each worker reads and keeps its progress in. */
  readonly workerPorts: Layer.Layer<WorkerPorts, { readonly message: string }, ArchiveClient>
}

/** A network in memory, and everything else in files of this process. */
export const aloneGround = Effect.fnUntraced(function* (options: {
  readonly cluster: ClusterId
  readonly layout: Layout
}) {
  const { cluster: clusterId, layout } = options
  const network = yield* MemoryNetwork.make()
  const messaging = (node: string) => MemoryNetwork.layer(network, node)
  const stores = yield* Layer.build(
    Layer.mergeAll(
      fileCheckpointStore({ directory: layout.checkpoints, clusterId }),
      fileLease({ directory: layout.leases, clusterId }),
      fileSpool({ directory: layout.spool, clusterId })
    )
  )
  yield* serveSpool(clusterId).pipe(
    Effect.provide(stores),
    Effect.provide(yield* Layer.build(messaging("spool")))
  )
  const floors = makeFloors()
  const source = Layer.effect(
    RecordSource,
    Effect.gen(function* () {
      const spool = yield* RecordSource
      const archives = yield* Effect.context<ArchiveClient>()
      return makeSpoolArchives({ spool, shards: Effect.provide(archiveShards, archives), floors })
    })
  )
  const ground: Ground = {
    messaging,
    workerPorts: Layer.mergeAll(source, spoolDeadLetters).pipe(
      Layer.provideMerge(Layer.succeedContext(stores))
    )
  }
  return ground
})

/** The NATS servers that this process is connected to. */
export const natsGround = Effect.fnUntraced(function* (
  cluster: ClusterId
): Effect.fn.Return<Ground, never, NatsConnections> {
  const connections = yield* Effect.context<NatsConnections>()
  const provided = Layer.succeedContext(connections)
  return {
    messaging: () => natsMessagingLayer().pipe(Layer.provide(provided)),
    workerPorts: jetStreamPorts(cluster).pipe(Layer.provide(provided))
  }
})
