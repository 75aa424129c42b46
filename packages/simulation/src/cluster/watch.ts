/**
 * What the oracles are told while services run, at the ports, below everything that may be wrong.
 */
import type { JournalEntry } from "@holdfast/chunk-map"
import type { Checkpoint } from "@holdfast/records"
import type { ChunkName } from "@holdfast/storage"

/** Listeners; each is called at the moment, none may change anything. */
export interface Watch {
  /** The metadata service made these facts durable. */
  readonly journalAppended: (entries: ReadonlyArray<JournalEntry>) => void
  /** A metadata service that starts has read these facts. */
  readonly journalRecovered: (entries: ReadonlyArray<JournalEntry>) => void
  /** A device is about to remove a copy. */
  readonly copyRemoved: (device: string, chunk: ChunkName) => void
  /** A checkpoint was stored. */
  readonly checkpointSaved: (shard: string, checkpoint: Checkpoint) => void
}

/** Several listeners as one. */
export const watchAll = (watches: ReadonlyArray<Partial<Watch>>): Watch => ({
  journalAppended: (entries) => {
    for (const watch of watches) watch.journalAppended?.(entries)
  },
  journalRecovered: (entries) => {
    for (const watch of watches) watch.journalRecovered?.(entries)
  },
  copyRemoved: (device, chunk) => {
    for (const watch of watches) watch.copyRemoved?.(device, chunk)
  },
  checkpointSaved: (shard, checkpoint) => {
    for (const watch of watches) watch.checkpointSaved?.(shard, checkpoint)
  }
})
