/**
 * The ports of a node, watched and with their seams.
 *
 *     service ──▶ seam (where a mistake may be) ──▶ watch (what the oracles see) ──▶ memory adapter
 */
import { crc32 } from "node:zlib"
import {
  KeyValueRefusal,
  type MemoryDisk,
  memoryCheckpointStore,
  memoryChunkDevices,
  memoryJournal,
  type MemoryKeyValue,
  memoryLease,
  MemoryNetwork,
  memoryPartitionStore,
  memoryRecordSource
} from "@holdfast/adapter-memory"
import { decodeJournal, type JournalEntry } from "@holdfast/chunk-map"
import { Messaging } from "@holdfast/messaging"
import { CheckpointStore, Lease, RecordSource } from "@holdfast/records"
import {
  ChunkDeviceError,
  ChunkDevices,
  Journal,
  type OpenDevice,
  PartitionStore
} from "@holdfast/storage"
import { Effect, Layer, Result, Stream } from "effect"
import type { Site } from "./site.ts"
import { watchMetadata } from "./watched-metadata.ts"

const decode = (records: Iterable<Uint8Array>): ReadonlyArray<JournalEntry> =>
  Array.from(records, (record) => Result.getOrThrow(decodeJournal(record, crc32))).flat()

/** A node's messages. */
export const messagingOf = (site: Site, node: string): Layer.Layer<Messaging> =>
  Layer.effect(
    Messaging,
    Effect.map(Messaging, (messaging) => site.seams.messaging(messaging, node))
  ).pipe(Layer.provide(MemoryNetwork.layer(site.network, node)))

/** The messages of the metadata service, which the oracles follow. */
export const metadataMessagingOf = (site: Site, node: string): Layer.Layer<Messaging> =>
  Layer.effect(
    Messaging,
    Effect.map(Messaging, (messaging) => watchMetadata(site, messaging))
  ).pipe(Layer.provide(messagingOf(site, node)))

const watchJournal = (site: Site, journal: Journal["Service"]): Journal["Service"] => ({
  ...journal,
  recover: Effect.tap(journal.recover, ({ entries, snapshot }) =>
    // What cannot be read is for the service to find out.
    Stream.concat(snapshot, entries).pipe(
      Stream.runCollect,
      Effect.map((records) => site.watch.journalRecovered(decode(records))),
      Effect.ignore
    )
  ),
  append: (records) =>
    Effect.tap(journal.append(records), () =>
      Effect.sync(() => {
        const entries = decode(records)
        for (const entry of entries) site.trace.add(`journal ${JSON.stringify(entry)}`)
        site.watch.journalAppended(entries)
      })
    )
})

/** The journal on a node's disk. */
export const journalOf = (site: Site, node: string, disk: MemoryDisk) =>
  Layer.effect(
    Journal,
    Effect.map(Journal, (journal) => site.seams.journal(watchJournal(site, journal), node))
  ).pipe(Layer.provide(memoryJournal(disk)))

const watchDevice = (site: Site, device: OpenDevice): OpenDevice => ({
  ...device,
  begin: (options) =>
    Effect.map(device.begin(options), (writer) => ({
      ...writer,
      finish: Effect.tap(writer.finish, () =>
        Effect.sync(() => site.watch.copyStored(device.identity.deviceId, options.chunk))
      )
    })),
  remove: (chunk) =>
    Effect.suspend(() => {
      const { deviceId } = device.identity
      const { chunkId, fileId, version } = chunk
      site.trace.add(`remove ${fileId}/${chunkId}@${version} from ${deviceId}`)
      site.watch.copyRemoved(deviceId, chunk)
      return device.remove(chunk)
    })
})

const pieceBytes = 7

/** The same bytes in pieces as small as a read may answer. */
const inPieces = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes)
  )

/** A device of a host that may be out of file handles, or be answered short reads. */
const sufferHost = (site: Site, node: string, device: OpenDevice): OpenDevice => {
  const { deviceId } = device.identity
  const refusal = new ChunkDeviceError({
    code: "unavailable",
    deviceId,
    message: "EMFILE: too many open files"
  })
  const withHandle = <A, E, R>(act: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | ChunkDeviceError, R> =>
      site.withoutHandles.has(node) ? Effect.fail(refusal) : act
    )
  const streamed = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
    Stream.unwrap(withHandle(Effect.succeed(stream)))
  return {
    ...device,
    begin: (options) => withHandle(device.begin(options)),
    describe: (chunk) => withHandle(device.describe(chunk)),
    verify: (chunk) => withHandle(device.verify(chunk)),
    remove: (chunk) => withHandle(device.remove(chunk)),
    list: streamed(device.list),
    read: (options) => {
      const whole = streamed(device.read(options))
      return Stream.unwrap(
        Effect.sync(() =>
          site.shortReading.has(node) ? Stream.flattenIterable(Stream.map(whole, inPieces)) : whole
        )
      )
    }
  }
}

/** The devices of a node, each on a disk of its own. */
export const devicesOf = (site: Site, node: string, diskOf: (directory: string) => MemoryDisk) =>
  Layer.effect(
    ChunkDevices,
    Effect.map(ChunkDevices, (devices) =>
      ChunkDevices.of({
        ...devices,
        open: (options) =>
          Effect.map(devices.open(options), (device) =>
            site.seams.device(sufferHost(site, node, watchDevice(site, device)), node)
          )
      })
    )
  ).pipe(Layer.provide(memoryChunkDevices(diskOf)))

/** The partitions on a node's disk. */
export const partitionsOf = (site: Site, node: string, disk: MemoryDisk) =>
  Layer.effect(
    PartitionStore,
    Effect.map(PartitionStore, (store) => site.seams.partitions(store, node))
  ).pipe(Layer.provide(memoryPartitionStore(disk)))

/** The broker's store as a worker reaches it, unless it is cut off. */
const reachedBy = (site: Site, node: string): MemoryKeyValue => {
  const { entries, get, put } = site.keyValue
  const reached = <A>(act: Effect.Effect<A, KeyValueRefusal>) =>
    Effect.suspend(() => {
      if (!site.cutFromBroker.has(node)) return act
      const message = "the broker is not reached"
      return Effect.fail(new KeyValueRefusal({ code: "unavailable", message }))
    })
  return {
    ...site.keyValue,
    get: (key) => reached(get(key)),
    entries: (prefix) => reached(entries(prefix)),
    put: (options) => reached(put(options))
  }
}

/** The broker's streams, and what workers tell them. */
const streamsOf = (site: Site): Layer.Layer<RecordSource> =>
  Layer.effect(
    RecordSource,
    Effect.map(RecordSource, (source) =>
      RecordSource.of({
        ...source,
        open: (options) =>
          Effect.map(source.open(options), (reader) => ({
            ...reader,
            acknowledge: (upTo) =>
              Effect.suspend(() => {
                site.trace.add(`acknowledge ${options.shard} ${upTo}`)
                site.watch.recordsAcknowledged(options.shard, upTo)
                return reader.acknowledge(upTo)
              })
          }))
      })
    )
  ).pipe(
    Layer.provide(
      memoryRecordSource(site.streams, { watermark: (shard) => site.watermarks.get(shard) })
    )
  )

/** The broker's stores as a worker sees them. */
export const brokerOf = (site: Site, node: string) =>
  Layer.mergeAll(
    Layer.effect(
      CheckpointStore,
      Effect.map(CheckpointStore, (store) => site.seams.checkpoints(store, node))
    ),
    Layer.effect(
      Lease,
      Effect.map(Lease, (lease) => site.seams.leases(lease, node))
    ),
    Layer.effect(
      RecordSource,
      Effect.map(RecordSource, (source) => site.seams.source(source, node))
    )
  ).pipe(
    Layer.provide(
      Layer.mergeAll(
        memoryCheckpointStore(reachedBy(site, node)),
        memoryLease(reachedBy(site, node)),
        streamsOf(site)
      )
    )
  )
