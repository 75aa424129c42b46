/**
 * Claims on shards in a key-value bucket, a key a shard; the promises are the port's. Nothing here
 * expires: older servers ignore the expiry of keys without a word, so whether a claim has lapsed is
 * decided by who watches it.
 */
import { Lease, LeaseConflict, LeaseError, LeaseRecord, type StoredLease } from "@holdfast/records"
import { Effect, Layer, Schema } from "effect"
import { type Bucket, type BucketEntry, type BucketOptions, openBucket } from "./bucket.ts"
import { bucketKey } from "./bucket-key.ts"
import { NatsConnections } from "./connections.ts"
import type { JetStreamFailure } from "./jetstream-call.ts"
import type { NatsError } from "./nats-error.ts"

/** Claims on the control connection; the bucket is made when there is none. */
export const natsLeaseLayer = (
  options: BucketOptions
): Layer.Layer<Lease, NatsError, NatsConnections> =>
  Layer.effect(
    Lease,
    Effect.gen(function* () {
      const { control } = yield* NatsConnections
      return makeNatsLease(yield* openBucket(control, options))
    })
  )

const json = Schema.fromJsonString(Schema.toCodecJson(LeaseRecord))
const encode = Schema.encodeSync(json)
const decode = Schema.decodeUnknownEffect(json)

/** Claims in an open bucket. */
export const makeNatsLease = (bucket: Bucket): Lease["Service"] =>
  Lease.of({
    list: bucket.list.pipe(
      Effect.mapError(leaseError),
      Effect.flatMap((entries) => Effect.forEach(entries, toStoredLease))
    ),
    write: Effect.fn("NatsLease.write")(function* ({ record, expected }) {
      const { shard } = record
      const value = new TextEncoder().encode(encode(record))
      return yield* bucket
        .put({ key: bucketKey(shard), value, expected })
        .pipe(Effect.mapError((failure) => writeError(shard, failure)))
    })
  })

const toStoredLease = (entry: BucketEntry): Effect.Effect<StoredLease, LeaseError> =>
  decode(new TextDecoder().decode(entry.value)).pipe(
    Effect.map((record) => ({ record, revision: entry.revision })),
    Effect.mapError(
      (error) =>
        new LeaseError({
          code: "corrupt",
          message: `the claim under the key ${entry.key} cannot be read: ${error.message}`
        })
    )
  )

const writeError = (shard: string, failure: JetStreamFailure): LeaseConflict | LeaseError =>
  failure.kind === "conflict"
    ? new LeaseConflict({
        shard,
        message: `the claim on ${shard} was written by another worker meanwhile`
      })
    : leaseError(failure)

const leaseError = (failure: JetStreamFailure): LeaseError =>
  new LeaseError({
    code: failure.kind === "full" ? "full" : "unavailable",
    message: failure.message
  })
