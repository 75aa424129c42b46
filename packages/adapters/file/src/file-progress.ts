/**
 * The CheckpointStore and the Lease port on LMDB: what the workers of one machine know of shards.
 *
 * Both may stand in one directory, and any number of processes may open it: LMDB takes its writers
 * one after another, so a comparison and its write are one step for all of them.
 */
import {
  Checkpoint,
  CheckpointConflict,
  CheckpointStore,
  CheckpointStoreError,
  Lease,
  LeaseConflict,
  LeaseError,
  LeaseRecord
} from "@holdfast/records"
import { Effect, Layer, Option } from "effect"
import { makeCells } from "./cells.ts"
import type { Cells } from "./cells.ts"
import { openEnvironment } from "./environment.ts"
import type { StoreOptions } from "./environment.ts"
import { jsonValue } from "./json-value.ts"
import type { StoreRefused } from "./store-refused.ts"

/** Bytes of the largest checkpoint, completion map included. */
const CHECKPOINT_BYTES_MAX = 1_048_576

const checkpoints = jsonValue(Checkpoint)
const leases = jsonValue(LeaseRecord)

const openCells = Effect.fnUntraced(function* (options: StoreOptions, name: string) {
  const environment = yield* openEnvironment({ ...options, kind: "progress", isShared: true })
  const table = yield* environment.read(() => environment.table(name))
  return makeCells(environment, table)
})

const storeError =
  (shard: string) =>
  ({ code, message }: StoreRefused): CheckpointStoreError => {
    switch (code) {
      case "full":
      case "corrupt":
      case "unavailable":
      case "too-large":
        return new CheckpointStoreError({ code, shard, message })
      case "locked":
        return new CheckpointStoreError({ code: "unavailable", shard, message })
      case "foreign":
        return new CheckpointStoreError({ code: "corrupt", shard, message })
    }
  }

const leaseError = ({ code, message }: StoreRefused): LeaseError => {
  switch (code) {
    case "full":
    case "corrupt":
    case "unavailable":
      return new LeaseError({ code, message })
    case "locked":
      return new LeaseError({ code: "unavailable", message })
    case "foreign":
      return new LeaseError({ code: "corrupt", message })
    case "too-large":
      return new LeaseError({ code: "full", message })
  }
}

const revisionText = (revision: Option.Option<bigint>): string =>
  Option.match(revision, { onNone: () => "none", onSome: (number) => `${number}` })

const loadCheckpoint = (cells: Cells): CheckpointStore["Service"]["load"] =>
  Effect.fnUntraced(function* (shard) {
    const cell = yield* Effect.mapError(cells.get(shard), storeError(shard))
    if (Option.isNone(cell)) return Option.none()
    const checkpoint = checkpoints.decode(cell.value.value)
    if (Option.isNone(checkpoint)) {
      const message = `The checkpoint of ${shard} is no checkpoint of this version.`
      return yield* new CheckpointStoreError({ code: "corrupt", shard, message })
    }
    return Option.some({ checkpoint: checkpoint.value, revision: cell.value.revision })
  })

const saveCheckpoint = (cells: Cells): CheckpointStore["Service"]["save"] =>
  Effect.fnUntraced(function* ({ checkpoint, expected, shard }) {
    const value = checkpoints.encode(checkpoint)
    if (value.length > CHECKPOINT_BYTES_MAX) {
      const message = `A checkpoint of ${value.length} bytes is over ${CHECKPOINT_BYTES_MAX}.`
      return yield* new CheckpointStoreError({ code: "too-large", shard, message })
    }
    const write = cells.write({ name: shard, value, expected })
    const written = yield* Effect.mapError(write, storeError(shard))
    if (written._tag === "Written") return written.revision
    const message = `The checkpoint of ${shard} is at revision ${revisionText(written.stored)}, not ${revisionText(expected)}: another worker wrote it.`
    return yield* new CheckpointConflict({ shard, message })
  })

const listLeases = (cells: Cells): Lease["Service"]["list"] =>
  Effect.gen(function* () {
    const all = yield* Effect.mapError(cells.all, leaseError)
    return yield* Effect.forEach(all, ({ name, revision, value }) => {
      const record = leases.decode(value)
      if (Option.isSome(record)) return Effect.succeed({ record: record.value, revision })
      const message = `The claim on ${name} is no claim of this version.`
      return Effect.fail(new LeaseError({ code: "corrupt", message }))
    })
  })

const writeLease = (cells: Cells): Lease["Service"]["write"] =>
  Effect.fnUntraced(function* ({ expected, record }) {
    const { shard } = record
    const write = cells.write({ name: shard, value: leases.encode(record), expected })
    const written = yield* Effect.mapError(write, leaseError)
    if (written._tag === "Written") return written.revision
    const message = `The claim on ${shard} is at revision ${revisionText(written.stored)}, not ${revisionText(expected)}.`
    return yield* new LeaseConflict({ shard, message })
  })

/** A CheckpointStore in a directory that every worker of the machine may open. */
export const fileCheckpointStore = (
  options: StoreOptions
): Layer.Layer<CheckpointStore, CheckpointStoreError> =>
  Layer.effect(
    CheckpointStore,
    Effect.map(openCells(options, "checkpoints"), (cells) => ({
      load: loadCheckpoint(cells),
      save: saveCheckpoint(cells)
    })).pipe(Effect.mapError(storeError("")))
  )

/** A Lease store in a directory that every worker of the machine may open. */
export const fileLease = (options: StoreOptions): Layer.Layer<Lease, LeaseError> =>
  Layer.effect(
    Lease,
    Effect.map(openCells(options, "leases"), (cells) => ({
      list: listLeases(cells),
      write: writeLease(cells)
    })).pipe(Effect.mapError(leaseError))
  )
