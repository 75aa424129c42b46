/**
 * Archives as a program uses them: the one service that joins handling, reading, searching,
 * replaying and verifying. Everything goes over the ports; there is no state but caches.
 */
import type { ArchiveEntry, SegmentEntry } from "@holdfast/catalogue"
import { Context, Effect, Layer, Stream } from "effect"
import { makeArchiveAdmin } from "./archive-admin.ts"
import {
  type ArchivedRecord,
  makeArchiveReader,
  type ReadOptions,
  type RecordBatch
} from "./archive-reader.ts"
import {
  makeArchiveReplay,
  type ReplayError,
  type ReplayOptions,
  type ReplayReport
} from "./archive-replay.ts"
import { makeArchiveSearch, type SearchError, type SearchOptions } from "./archive-search.ts"
import { makeArchiveVerify } from "./archive-verify.ts"
import { CatalogueClient } from "./catalogue-client.ts"
import { ChunkClient } from "./chunk-client.ts"
import type { ReadError } from "./errors.ts"
import { FileClient } from "./file-client.ts"
import { MetadataClient } from "./metadata-client.ts"
import { PeerClient } from "./peer-client.ts"
import { makeReplayOrder } from "./replay-order.ts"
import { ClientConfig, type ClientSettings, clientSettingsDefault } from "./settings.ts"

const makeArchiveClient = Effect.gen(function* () {
  const catalogue = yield* CatalogueClient
  const metadata = yield* MetadataClient
  const chunks = yield* ChunkClient
  const settings = yield* ClientConfig
  const admin = makeArchiveAdmin({ catalogue, metadata })
  const reader = makeArchiveReader({ catalogue, chunks, settings })
  const search = makeArchiveSearch({ catalogue, reader })
  const replay = makeArchiveReplay({ catalogue, order: makeReplayOrder({ reader, search }) })
  const verify = makeArchiveVerify({ admin, catalogue, chunks, metadata, reader })

  /** An archive that is not there is an error, not an empty answer. */
  const ofArchive = <A, E>(
    name: string,
    use: (archive: ArchiveEntry) => Stream.Stream<A, E>
  ): Stream.Stream<A, E | ReadError> => Stream.unwrap(Effect.map(admin.show(name), use))

  const searchBatches = (options: SearchOptions): Stream.Stream<RecordBatch, SearchError> =>
    ofArchive(options.archive, (archive) => search.batches(archive, options))

  return {
    ...admin,
    verify,
    /** Publishes records again, behind those that earlier runs brought to the target. */
    replay: (options: ReplayOptions): Effect.Effect<ReplayReport, ReplayError> =>
      Effect.flatMap(admin.show(options.archive), (archive) => replay(archive, options)),
    /** Records in batches, by position, shard after shard. */
    readBatches: (options: ReadOptions): Stream.Stream<RecordBatch, ReadError> =>
      ofArchive(options.archive, () => reader.batches(options)),
    /** Records one by one, by position or by time. */
    read: (options: ReadOptions): Stream.Stream<ArchivedRecord, ReadError> =>
      ofArchive(options.archive, () => reader.records(options)),
    /** The segments that overlap a range of positions of a shard, in order. */
    segments: reader.segmentsOf,
    /** Records with a tag's value, in batches. */
    searchBatches,
    /** Records with a tag's value, one by one. */
    search: (options: SearchOptions): Stream.Stream<ArchivedRecord, SearchError> =>
      searchBatches(options).pipe(
        Stream.map(({ records, shard }) => records.map((record) => ({ shard, record }))),
        Stream.flattenIterable
      ),
    /** How many records have a tag's value. */
    searchCount: (options: SearchOptions): Effect.Effect<number, SearchError> =>
      Stream.runFold(
        searchBatches(options),
        () => 0,
        (sum, { records }) => sum + records.length
      ),
    /** The segments that a search would read. */
    searchSegments: (
      options: SearchOptions
    ): Effect.Effect<ReadonlyArray<SegmentEntry>, SearchError> =>
      Effect.flatMap(admin.show(options.archive), (archive) => search.segments(archive, options))
  }
})

/** Archives as a program uses them. */
export class ArchiveClient extends Context.Service<
  ArchiveClient,
  Effect.Success<typeof makeArchiveClient>
>()("@holdfast/client/ArchiveClient") {
  static readonly layer = Layer.effect(this, makeArchiveClient)
}

/** Every client of one cluster over a messaging and a chunk transport. */
export const clientLayer = (settings: Pick<ClientSettings, "cluster"> & Partial<ClientSettings>) =>
  Layer.mergeAll(ArchiveClient.layer, FileClient.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(CatalogueClient.layer, ChunkClient.layer)),
    Layer.provideMerge(Layer.mergeAll(MetadataClient.layer, PeerClient.layer)),
    Layer.provideMerge(Layer.succeed(ClientConfig, { ...clientSettingsDefault, ...settings }))
  )
