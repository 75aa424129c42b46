/**
 * Checkpoints in a key-value bucket, a key a shard; the promises are the port's. JetStream confirms
 * a write once its replicas have it in their page caches: it survives the crash of any process, and
 * of one machine when the bucket has three replicas.
 */
import {
  Checkpoint,
  CheckpointConflict,
  CheckpointStore,
  CheckpointStoreError
} from "@holdfast/records"
import { Effect, Layer, Option, Schema } from "effect"
import { type Bucket, type BucketOptions, openBucket } from "./bucket.ts"
import { bucketKey } from "./bucket-key.ts"
import { NatsConnections } from "./connections.ts"
import type { JetStreamFailure } from "./jetstream-call.ts"
import type { NatsError } from "./nats-error.ts"

/** Checkpoints on the control connection; the bucket is made when there is none. */
export const natsCheckpointStoreLayer = (
  options: BucketOptions
): Layer.Layer<CheckpointStore, NatsError, NatsConnections> =>
  Layer.effect(
    CheckpointStore,
    Effect.gen(function* () {
      const { control } = yield* NatsConnections
      const bucket = yield* openBucket(control, options)
      return makeNatsCheckpointStore(
        bucket,
        () => control.native.info?.max_payload ?? Number.MAX_SAFE_INTEGER
      )
    })
  )

const json = Schema.fromJsonString(Schema.toCodecJson(Checkpoint))
const encode = Schema.encodeSync(json)
const decode = Schema.decodeUnknownEffect(json)
/** What the write adds to the value: the header that names the revision. */
const headerRoom = 128

/** Checkpoints in an open bucket. */
export const makeNatsCheckpointStore = (
  bucket: Bucket,
  maxPayload: () => number
): CheckpointStore["Service"] =>
  CheckpointStore.of({
    load: Effect.fn("NatsCheckpointStore.load")(function* (shard) {
      const found = yield* Effect.mapError(bucket.get(bucketKey(shard)), (failure) =>
        storeError(shard, failure)
      )
      if (Option.isNone(found)) return Option.none()
      const { value, revision } = found.value
      const checkpoint = yield* decode(new TextDecoder().decode(value)).pipe(
        Effect.mapError((error) => corrupt(shard, error.message))
      )
      return Option.some({ checkpoint, revision })
    }),
    save: Effect.fn("NatsCheckpointStore.save")(function* ({ shard, checkpoint, expected }) {
      const value = new TextEncoder().encode(encode(checkpoint))
      if (value.length + headerRoom > maxPayload()) {
        const message = `a checkpoint of ${value.length} bytes is over the limit of the server`
        return yield* new CheckpointStoreError({ code: "too-large", shard, message })
      }
      return yield* bucket
        .put({ key: bucketKey(shard), value, expected })
        .pipe(Effect.mapError((failure) => saveError(shard, failure)))
    })
  })

const corrupt = (shard: string, detail: string): CheckpointStoreError =>
  new CheckpointStoreError({
    code: "corrupt",
    shard,
    message: `the checkpoint of ${shard} cannot be read: ${detail}`
  })

const saveError = (
  shard: string,
  failure: JetStreamFailure
): CheckpointConflict | CheckpointStoreError =>
  failure.kind === "conflict"
    ? new CheckpointConflict({
        shard,
        message: `the checkpoint of ${shard} was written by another worker meanwhile`
      })
    : storeError(shard, failure)

const storeError = (shard: string, failure: JetStreamFailure): CheckpointStoreError => {
  const code =
    failure.kind === "full" || failure.kind === "too-large"
      ? failure.kind
      : ("unavailable" as const)
  return new CheckpointStoreError({ code, shard, message: failure.message })
}
