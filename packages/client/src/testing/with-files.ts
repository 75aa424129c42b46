/** Plain files against a cluster in memory. */
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { Effect, Layer } from "effect"
import { type ClientSettings, clientLayer, FileClient, type MetadataClient } from "../index.ts"
import { type FakeCluster, fakeClusterLayer, makeFakeCluster } from "./fake-cluster.ts"

/** Runs a program with a file client and the cluster of three devices behind it. */
export const withFiles = <A, E>(
  program: (parts: {
    readonly files: FileClient["Service"]
    readonly cluster: FakeCluster
  }) => Effect.Effect<A, E, FileClient | MetadataClient>,
  settings: Partial<ClientSettings> = {}
) =>
  Effect.gen(function* () {
    const cluster = makeFakeCluster(3)
    const network = yield* MemoryNetwork.make({ maxPayloadBytes: 1_048_576 })
    const services = fakeClusterLayer(cluster).pipe(
      Layer.provide(MemoryNetwork.layer(network, "services"))
    )
    const client = clientLayer({ ...settings, cluster: cluster.name }).pipe(
      Layer.provide(MemoryNetwork.layer(network, "client")),
      Layer.provide(services)
    )
    return yield* Effect.gen(function* () {
      return yield* program({ files: yield* FileClient, cluster })
    }).pipe(Effect.provide(client))
  }).pipe(Effect.scoped)
