/**
 * A key-value bucket of JetStream used for compare-and-set.
 *
 * 1. A write names the revision that it replaces, and fails as `conflict` when that is not the
 *    stored one. Revisions of a bucket strictly increase.
 * 2. Reads are answered by the stream's leader, never by a follower that lags.
 * 3. Keys never expire: a bucket whose configuration would drop some is refused.
 * 4. A write whose answer is lost is looked up once; if it is there, it succeeded.
 */
import {
  DiscardPolicy,
  jetstream,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig
} from "@nats-io/jetstream"
import { type KV, type KvEntry, Kvm } from "@nats-io/kv"
import { Effect, Option } from "effect"
import { ensureConfigured, type WantedConfig } from "./ensure-stream.ts"
import { callDeadlineMs, callJetStream, type JetStreamFailure } from "./jetstream-call.ts"
import { confirmWrite } from "./lost-answer.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { NatsError } from "./nats-error.ts"
import { openManager } from "./open-manager.ts"

/** Which bucket, and how it is made when there is none. */
export interface BucketOptions {
  /** Letters, digits, `-` and `_`. */
  readonly bucket: string
  readonly replicas?: number
  /** The JetStream domain, where leaf nodes have several. */
  readonly domain?: string
}

/** A value and the revision that the next write must name. */
export interface BucketEntry {
  readonly key: string
  readonly value: Uint8Array
  readonly revision: bigint
}

/** The operations on a bucket. */
export interface Bucket {
  readonly get: (key: string) => Effect.Effect<Option.Option<BucketEntry>, JetStreamFailure>
  /** Writes over a revision, or the first value when it is none; answers the new revision. */
  readonly put: (options: {
    readonly key: string
    readonly value: Uint8Array
    readonly expected: Option.Option<bigint>
  }) => Effect.Effect<bigint, JetStreamFailure>
  /** The newest value of every key. */
  readonly list: Effect.Effect<ReadonlyArray<BucketEntry>, JetStreamFailure>
}

/** What a bucket that exists must be like, whoever made it. */
const required: ReadonlyArray<keyof StreamConfig> = ["storage", "retention", "discard", "max_age"]

const configOf = (options: BucketOptions): WantedConfig => ({
  name: `KV_${options.bucket}`,
  subjects: [`$KV.${options.bucket}.>`],
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  discard: DiscardPolicy.New,
  max_age: 0,
  max_msgs_per_subject: 1,
  num_replicas: options.replicas ?? 1,
  deny_delete: true,
  allow_rollup_hdrs: true,
  allow_direct: true
})

/** Opens a bucket, and makes it first when there is none. */
export const openBucket = Effect.fn("Nats.openBucket")(function* (
  connection: ManagedConnection,
  options: BucketOptions
): Effect.fn.Return<Bucket, NatsError> {
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(options.bucket)) {
    return yield* new NatsError({
      code: "invalid",
      message: `the bucket name "${options.bucket}" may have letters, digits, "-" and "_" only`
    })
  }
  const manager = yield* openManager(connection, options.domain)
  yield* ensureConfigured(connection, manager, configOf(options), required)
  const store = yield* Effect.promise(() =>
    new Kvm(
      jetstream(connection.native, {
        timeout: callDeadlineMs,
        ...(options.domain === undefined ? {} : { domain: options.domain })
      })
    ).open(options.bucket, { allow_direct: false })
  )
  const get: Bucket["get"] = (key) =>
    Effect.map(
      callJetStream(connection, () => store.get(key)),
      (entry) => (entry === null ? Option.none() : toEntry(entry))
    )
  const { bucket } = options
  return {
    get,
    put: (write) => put(connection, store, get, write),
    list: list(connection, () => readAll({ manager, store, bucket }))
  }
})

const toEntry = (entry: KvEntry): Option.Option<BucketEntry> =>
  entry.operation === "PUT"
    ? Option.some({ key: entry.key, value: entry.value, revision: BigInt(entry.revision) })
    : Option.none()

const put = (
  connection: ManagedConnection,
  store: KV,
  get: Bucket["get"],
  write: Parameters<Bucket["put"]>[0]
): ReturnType<Bucket["put"]> => {
  const { key, value } = write
  const previousSeq = Number(Option.getOrElse(write.expected, () => 0n))
  const sent =
    previousSeq === 0
      ? callJetStream(connection, () => store.create(key, value))
      : callJetStream(connection, () => store.put(key, value, { previousSeq }))
  return confirmWrite({
    write: Effect.map(sent, (revision) => BigInt(revision)),
    look: get(key),
    replaced: BigInt(previousSeq),
    value
  })
}

const list = (
  connection: ManagedConnection,
  readEntries: () => Promise<ReadonlyArray<BucketEntry>>
): Effect.Effect<ReadonlyArray<BucketEntry>, JetStreamFailure> => {
  const late: JetStreamFailure = { kind: "unavailable", message: "the bucket was not read in time" }
  return callJetStream(connection, readEntries).pipe(
    Effect.timeoutOrElse({ duration: callDeadlineMs, orElse: () => Effect.fail(late) })
  )
}

/** Keys that are read at a time. */
const readAtOnce = 64

/**
 * Reads each key that there was at the start, by itself. The library's own listing makes a consumer
 * each time and reads on until nothing is pending, which does not come while others write; where a
 * server miscounts what is pending, it waits for a heartbeat.
 */
const readAll = async (options: {
  readonly manager: JetStreamManager
  readonly store: KV
  readonly bucket: string
}): Promise<ReadonlyArray<BucketEntry>> => {
  const { bucket, manager, store } = options
  const prefix = `$KV.${bucket}.`
  const { state } = await manager.streams.info(`KV_${bucket}`, { subjects_filter: `${prefix}>` })
  const keys = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix.length))
  const entries: Array<BucketEntry> = []
  for (let at = 0; at < keys.length; at += readAtOnce) {
    const read = await Promise.all(keys.slice(at, at + readAtOnce).map((key) => store.get(key)))
    for (const entry of read) {
      const found = entry === null ? Option.none() : toEntry(entry)
      if (Option.isSome(found)) entries.push(found.value)
    }
  }
  return entries
}
