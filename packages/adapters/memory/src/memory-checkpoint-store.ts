/** The CheckpointStore port on a shared key-value store: one key a shard. */
import {
  Checkpoint,
  CheckpointConflict,
  CheckpointStore,
  CheckpointStoreError,
  type StoredCheckpoint
} from "@holdfast/records"
import { Effect, Layer, Option } from "effect"
import { jsonValue } from "./json-value.ts"
import type { KeyValueRefusal, MemoryKeyValue } from "./memory-key-value.ts"

const codec = jsonValue(Checkpoint)

const refused = (shard: string, { code, message }: KeyValueRefusal) =>
  code === "conflict"
    ? new CheckpointConflict({ shard, message })
    : new CheckpointStoreError({ code, shard, message })

const load = (store: MemoryKeyValue): CheckpointStore["Service"]["load"] =>
  Effect.fnUntraced(function* (shard) {
    const entry = yield* Effect.mapError(
      store.get(checkpointKey(shard)),
      ({ message }) => new CheckpointStoreError({ code: "unavailable", shard, message })
    )
    if (Option.isNone(entry)) return Option.none<StoredCheckpoint>()
    const checkpoint = codec.decode(entry.value.value)
    if (Option.isNone(checkpoint)) {
      const message = `the checkpoint of ${shard} cannot be read`
      return yield* new CheckpointStoreError({ code: "corrupt", shard, message })
    }
    const { revision } = entry.value
    return Option.some<StoredCheckpoint>({ checkpoint: checkpoint.value, revision })
  })

const prefix = "checkpoint/"

/** The key under which a shard's checkpoint is stored. */
export const checkpointKey = (shard: string): string => `${prefix}${shard}`

/** The checkpoint in a stored value; none when it is something else, or damaged. */
export const readCheckpoint = (entry: {
  readonly key: string
  readonly value: Uint8Array
}): Option.Option<{ readonly shard: string; readonly checkpoint: Checkpoint }> =>
  entry.key.startsWith(prefix)
    ? Option.map(codec.decode(entry.value), (checkpoint) => ({
        shard: entry.key.slice(prefix.length),
        checkpoint
      }))
    : Option.none()

/** A CheckpointStore that every service with this store shares. */
export const memoryCheckpointStore = (store: MemoryKeyValue): Layer.Layer<CheckpointStore> =>
  Layer.succeed(CheckpointStore, {
    load: load(store),
    save: ({ shard, checkpoint, expected }) =>
      Effect.mapError(
        store.put({ key: checkpointKey(shard), value: codec.encode(checkpoint), expected }),
        (refusal) => refused(shard, refusal)
      )
  })
