/** A client and an archive "orders" on a cluster in memory, for tests. */
import { type ArchiveEntry, parseTagRule } from "@holdfast/catalogue"
import type { Messaging } from "@holdfast/messaging"
import type { SegmentRecord } from "@holdfast/segment"
import { Effect, Layer, Result, type Scope, Stream } from "effect"
import { ArchiveClient, clientLayer } from "../archive-client.ts"
import type { CatalogueClient } from "../catalogue-client.ts"
import type { ChunkClient } from "../chunk-client.ts"
import { type FakeCluster, fakeClusterLayer, makeFakeCluster } from "./fake-cluster.ts"
import { sealRecords } from "./seal-records.ts"

/** One network with a place for the services and one for the client. */
export interface TestNetwork {
  readonly services: Layer.Layer<Messaging>
  readonly client: Layer.Layer<Messaging>
}

const text = (value: string) => new TextEncoder().encode(value)

/** A record of the test's stream. */
export const record = (position: number, fields: Partial<SegmentRecord> = {}): SegmentRecord => ({
  position: BigInt(position),
  part: 0,
  timestamp: BigInt(position) * 1_000n,
  subject: text(`orders.${position % 3}`),
  headers: [],
  data: text(JSON.stringify({ at: position, kind: `kind-${position % 5}` })),
  ...fields
})

/** Records of neighbouring positions, both ends included. */
export const range = (from: number, to: number): ReadonlyArray<SegmentRecord> =>
  Array.from({ length: to - from + 1 }, (_, at) => record(from + at))

/** Neighbouring numbers, both ends included. */
export const numbers = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

/** The positions of what a stream gives. */
export const positions = <E, R>(
  stream: Stream.Stream<{ readonly record: SegmentRecord }, E, R>
): Effect.Effect<ReadonlyArray<number>, E, R> =>
  Effect.map(Stream.runCollect(stream), (all) => all.map(({ record }) => Number(record.position)))

type Clients = ArchiveClient | CatalogueClient | ChunkClient

/** What a test's program is given. */
export interface ArchiveParts {
  readonly archives: ArchiveClient["Service"]
  readonly archive: ArchiveEntry
  readonly cluster: FakeCluster
  readonly seal: (
    records: ReadonlyArray<SegmentRecord>,
    more?: { readonly shard?: string; readonly complete?: boolean; readonly until?: "committed" }
  ) => Effect.Effect<unknown, unknown, Clients>
}

/** Runs programs against a cluster of three devices that has the archive "orders". */
export const makeWithArchive =
  (
    network: Effect.Effect<TestNetwork, never, Scope.Scope>,
    options: { readonly withPeers: boolean } = { withPeers: true }
  ) =>
  <A, E>(program: (parts: ArchiveParts) => Effect.Effect<A, E, Clients>) =>
    Effect.gen(function* () {
      const cluster = makeFakeCluster(3)
      const { client, services } = yield* network
      const settings = { cluster: cluster.name, hedgeAfter: "5 seconds", pageSize: 7 } as const
      const clients = clientLayer(settings).pipe(
        Layer.provide(client),
        Layer.provide(fakeClusterLayer(cluster, options).pipe(Layer.provide(services)))
      )
      return yield* Effect.gen(function* () {
        const archives = yield* ArchiveClient
        const tags = [Result.getOrThrow(parseTagRule("kind=json:kind"))]
        yield* archives.add({ name: "orders", stream: "ORDERS", settings: { tags } })
        const archive = yield* archives.show("orders")
        const seal: ArchiveParts["seal"] = (records, more = {}) =>
          Effect.flatMap(archives.show("orders"), (now) =>
            sealRecords({ archive: now, shard: "ORDERS", records, ...more })
          )
        return yield* program({ archives, archive, cluster, seal })
      }).pipe(Effect.provide(clients))
    }).pipe(Effect.scoped)
