/**
 * Records of JetStream streams; the promises are the port's. A shard is a stream, or the messages
 * of a stream under one subject; positions are stream sequences.
 *
 * 1. Subjects, headers and data are the bytes that the server stores.
 * 2. The stream's own limits decide what is forgotten, whatever is acknowledged; a shard with a
 *    durable consumer lets its floor follow what is.
 */
import type { JetStreamManager } from "@nats-io/jetstream"
import { RecordSource, RecordSourceError, type Shard } from "@holdfast/records"
import { Duration, Effect, Layer, Option } from "effect"
import { NatsConnections } from "./connections.ts"
import { callJetStream } from "./jetstream-call.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { openManager } from "./open-manager.ts"
import { type NatsShard, toRecordSourceError } from "./stream-facts.ts"
import { openStreamReader, type ReaderTuning } from "./stream-reader.ts"

/** Which shards there are, and how they are read. */
export interface NatsRecordSourceOptions {
  /** Asked at each `shards` and `open`, so that it may change while the program runs. */
  readonly shards: Effect.Effect<ReadonlyArray<NatsShard>, RecordSourceError>
  /** The JetStream domain, where leaf nodes have several. */
  readonly domain?: string
  /** Records held or asked for ahead of each reader. Default 16,384. */
  readonly windowRecords?: number
  /** Bytes of the same; at least two of the server's largest messages are held. Default 32 MiB. */
  readonly windowBytes?: number
  /** How often the server must show life on an idle stream. Default 2 seconds. */
  readonly heartbeat?: Duration.Input
  /** How long an outage shows as empty batches only. Default 10 seconds. */
  readonly outageGrace?: Duration.Input
  /** A durable consumer's deliveries come again after so long a silence. Default 2 minutes. */
  readonly ackWait?: Duration.Input
  /** Deliveries of a durable consumer that may be unacknowledged at a time. Default 65,536. */
  readonly ackPendingMax?: number
}

/** Records from JetStream, on the bulk connection. */
export const natsRecordSourceLayer = (
  options: NatsRecordSourceOptions
): Layer.Layer<RecordSource, never, NatsConnections> =>
  Layer.effect(
    RecordSource,
    Effect.flatMap(NatsConnections, ({ bulk }) => makeNatsRecordSource(bulk, options))
  )

const defaultWindowRecords = 16_384
const defaultWindowBytes = 32 * 1_048_576
const defaultAckPendingMax = 65_536
const defaultMaxPayload = 1_048_576
/** What the server counts beside headers and data: subject and reply subject. */
const messageOverhead = 8_192

/** Records from JetStream over one connection. */
export const makeNatsRecordSource = Effect.fn("Nats.makeRecordSource")(function* (
  connection: ManagedConnection,
  options: NatsRecordSourceOptions
) {
  const manager = yield* openManager(connection, options.domain)
  const apiPrefix = options.domain === undefined ? "$JS.API" : `$JS.${options.domain}.API`
  const tuning = tuningOf(connection, options)
  return RecordSource.of({
    shards: Effect.flatMap(options.shards, (shards) => existing(connection, manager, shards)),
    open: ({ shard, after }) =>
      Effect.flatMap(findShard(options, shard), (found) =>
        openStreamReader({
          connection,
          manager,
          apiPrefix,
          shard: found,
          after: Option.getOrUndefined(after),
          tuning
        })
      )
  })
})

/** How readers over a connection fetch, and how patient they are. */
export const tuningOf = (
  connection: ManagedConnection,
  options: Omit<NatsRecordSourceOptions, "shards">
): ReaderTuning => {
  const largest = (connection.native.info?.max_payload ?? defaultMaxPayload) + messageOverhead
  const half = (window: number): number => Math.max(1, Math.floor(window / 2))
  return {
    limits: {
      records: half(options.windowRecords ?? defaultWindowRecords),
      bytes: Math.max(half(options.windowBytes ?? defaultWindowBytes), largest)
    },
    heartbeat: Duration.fromInputUnsafe(options.heartbeat ?? "2 seconds"),
    outageGrace: Duration.fromInputUnsafe(options.outageGrace ?? "10 seconds"),
    ackWait: Duration.fromInputUnsafe(options.ackWait ?? "2 minutes"),
    ackPendingMax: options.ackPendingMax ?? defaultAckPendingMax
  }
}

const findShard = (
  options: NatsRecordSourceOptions,
  name: string
): Effect.Effect<NatsShard, RecordSourceError> =>
  Effect.flatMap(options.shards, (shards) => {
    const found = shards.find(({ shard }) => shard === name)
    if (found !== undefined) return Effect.succeed(found)
    const known = shards.map(({ shard }) => shard).join(", ")
    return Effect.fail(
      new RecordSourceError({
        code: "not-found",
        message: `there is no shard "${name}"; configured are: ${known || "none"}`
      })
    )
  })

/** The shards whose streams exist now. */
const existing = Effect.fnUntraced(function* (
  connection: ManagedConnection,
  manager: JetStreamManager,
  shards: ReadonlyArray<NatsShard>
) {
  const streams = [...new Set(shards.map(({ stream }) => stream))]
  const present = yield* Effect.filter(
    streams,
    (stream) =>
      callJetStream(connection, () => manager.streams.info(stream)).pipe(
        Effect.as(true),
        Effect.catch((failure) =>
          failure.kind === "not-found"
            ? Effect.succeed(false)
            : Effect.fail(toRecordSourceError(stream, failure))
        )
      ),
    { concurrency: 16 }
  )
  return shards
    .filter(({ stream }) => present.includes(stream))
    .map(({ shard, stream }): Shard => ({ shard, stream }))
})
