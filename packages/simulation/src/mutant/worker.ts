/** Mistakes of what workers stand on. */
import { checkpointKey, type MemoryKeyValue } from "@holdfast/adapter-memory"
import type { CheckpointStore, Lease, RecordSource } from "@holdfast/records"
import { Effect, Option } from "effect"
import type { Mutant } from "./mutant.ts"

type Checkpoints = CheckpointStore["Service"]

/** The broker takes every write of a checkpoint, whatever revision it names. */
const acceptsStale = (store: MemoryKeyValue): MemoryKeyValue => ({
  ...store,
  put: (options) =>
    Effect.catchIf(
      store.put(options),
      ({ code }) => code === "conflict" && options.key.startsWith(checkpointKey("")),
      () =>
        Effect.flatMap(store.get(options.key), (found) =>
          store.put({ ...options, expected: Option.map(found, ({ revision }) => revision) })
        )
    )
})

const runsAhead = (store: Checkpoints): Checkpoints => ({
  ...store,
  save: (options) => {
    const { checkpoint } = options
    const position = Option.map(checkpoint.position, (at) => at + 1n)
    return store.save({ ...options, checkpoint: { ...checkpoint, position } })
  }
})

const forgetsCheckpoints = (store: Checkpoints): Checkpoints => ({
  ...store,
  load: () => Effect.succeed(Option.none())
})

const savesNothing = (store: Checkpoints): Checkpoints => ({
  ...store,
  save: ({ expected }) => Effect.succeed(Option.getOrElse(expected, () => 0n) + 1n)
})

const grantsToAll = (lease: Lease["Service"]): Lease["Service"] => ({
  ...lease,
  write: (options) =>
    Effect.catchTag(lease.write(options), "LeaseConflict", () => Effect.succeed(1n))
})

/** Leaves the last record of some batches out, and says nothing of it. */
const skipsRecords = (source: RecordSource["Service"]): RecordSource["Service"] => ({
  ...source,
  open: (options) =>
    Effect.map(source.open(options), (reader) => ({
      ...reader,
      next: (bounds) =>
        Effect.map(reader.next(bounds), (batch) =>
          batch.records.length % 5 === 4 ? { ...batch, records: batch.records.slice(1) } : batch
        )
    }))
})

/** Mistakes of checkpoints, leases and sources. */
export const workerMutants: ReadonlyArray<Mutant> = [
  {
    name: "the checkpoint store accepts a stale revision",
    profile: "workers",
    seams: { keyValue: acceptsStale }
  },
  {
    name: "a checkpoint passes a record that is not stored",
    profile: "archive",
    seams: { checkpoints: runsAhead }
  },
  {
    name: "a successor does not find the checkpoint",
    profile: "workers",
    seams: { checkpoints: forgetsCheckpoints }
  },
  {
    name: "a checkpoint is acknowledged and not stored",
    profile: "archive",
    seams: { checkpoints: savesNothing }
  },
  {
    name: "a lease is granted to whoever asks",
    profile: "workers",
    seams: { leases: grantsToAll }
  },
  {
    name: "the source leaves records out without a gap",
    profile: "archive",
    seams: { source: skipsRecords }
  }
]
