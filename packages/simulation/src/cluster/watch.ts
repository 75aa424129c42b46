/**
 * What the oracles are told while services run, at the ports, below everything that may be wrong.
 */
import type { JournalEntry } from "@holdfast/chunk-map"
import type { Checkpoint } from "@holdfast/records"
import type { ChunkName } from "@holdfast/storage"
import type { MetadataChunkServerOperations, MetadataOperations } from "@holdfast/wire"

/** A chunk server's sign of life. */
export type Heartbeat = typeof MetadataChunkServerOperations.heartbeat.request.Type
/** What it is answered. */
export type HeartbeatAnswer = typeof MetadataChunkServerOperations.heartbeat.response.Type
/** Where a chunk is, as a client is told. */
export type Location = typeof MetadataOperations.locate.response.Type
/** Room for a chunk, as a client is given it. */
export type Allotted = typeof MetadataOperations.alloc.response.Type

/** Listeners; each is called at the moment, none may change anything. */
export interface Watch {
  /** The metadata service made these facts durable. */
  readonly journalAppended: (entries: ReadonlyArray<JournalEntry>) => void
  /** A metadata service that starts has read these facts. */
  readonly journalRecovered: (entries: ReadonlyArray<JournalEntry>) => void
  /** The metadata service has answered a sign of life. */
  readonly heartbeatAnswered: (heartbeat: Heartbeat, answer: HeartbeatAnswer) => void
  /** It has answered where there is room for a chunk of so many bytes. */
  readonly chunkAllotted: (allotted: Allotted, size: number) => void
  /** It was asked to end a reservation, by a commit or without one. */
  readonly leaseEnding: (lease: string) => void
  /** It has answered where a chunk is. */
  readonly chunkLocated: (location: Location) => void
  /** An operator asks that a device may take new chunks, or none; it may not happen. */
  readonly deviceAsked: (device: string, mayTake: boolean) => void
  /** The service has answered that it is so. */
  readonly deviceAnswered: (device: string, mayTake: boolean) => void
  /** A copy is durable on a device. */
  readonly copyStored: (device: string, chunk: ChunkName) => void
  /** A device is about to remove a copy. */
  readonly copyRemoved: (device: string, chunk: ChunkName) => void
  /** A checkpoint was stored. */
  readonly checkpointSaved: (shard: string, checkpoint: Checkpoint) => void
  /** A source is told that everything up to a position is finished; it may not hear it. */
  readonly recordsAcknowledged: (shard: string, upTo: bigint) => void
  /** A worker's stage has opened a shard under an epoch. */
  readonly stageOpened: (shard: string, epoch: number) => void
  /** It begins to work on an item. */
  readonly itemBegun: (item: WorkedItem) => void
  /** It is about to say that the item is done; what the item was for is durable. */
  readonly itemDone: (item: WorkedItem) => void
}

/** An item of a stage, and under which epoch it is worked on. */
export interface WorkedItem {
  readonly shard: string
  readonly epoch: number
  readonly position: bigint
  /** Which user record of its message; none for a message that is one record. */
  readonly part: number | undefined
  /** Which item of its record. */
  readonly index: number
}

/** Several listeners as one. */
export const watchAll = (watches: ReadonlyArray<Partial<Watch>>): Watch => {
  const each =
    <Told extends ReadonlyArray<unknown>>(
      listener: (watch: Partial<Watch>) => ((...told: Told) => void) | undefined
    ) =>
    (...told: Told): void => {
      for (const watch of watches) listener(watch)?.(...told)
    }
  return {
    journalAppended: each((watch) => watch.journalAppended),
    journalRecovered: each((watch) => watch.journalRecovered),
    heartbeatAnswered: each((watch) => watch.heartbeatAnswered),
    chunkAllotted: each((watch) => watch.chunkAllotted),
    leaseEnding: each((watch) => watch.leaseEnding),
    chunkLocated: each((watch) => watch.chunkLocated),
    deviceAsked: each((watch) => watch.deviceAsked),
    deviceAnswered: each((watch) => watch.deviceAnswered),
    copyStored: each((watch) => watch.copyStored),
    copyRemoved: each((watch) => watch.copyRemoved),
    checkpointSaved: each((watch) => watch.checkpointSaved),
    recordsAcknowledged: each((watch) => watch.recordsAcknowledged),
    stageOpened: each((watch) => watch.stageOpened),
    itemBegun: each((watch) => watch.itemBegun),
    itemDone: each((watch) => watch.itemDone)
  }
}
