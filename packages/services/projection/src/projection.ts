/**
 * The projection: records folded into partitions of a peer application.
 *
 *     record ──project──▶ events ──one request each, in order by partition──▶ peers ──▶ done
 *                                     │ id: (source, position, part, index)
 *                                     └ at most `unconfirmedMax` a partition above the checkpoint
 *
 * 1. An event's request id is made of its record's place, so a redelivery is the same request, and
 *    the peers count it once: a partition knows a repeat among its latest 128 requests.
 * 2. No more than `unconfirmedMax` requests to one partition are beyond the confirmed checkpoint;
 *    with 16, eight shards may write to one partition and every repeat is still known.
 * 3. Events of one partition are sent in the order of their records; what failed is sent again
 *    before what follows it. Peers that are away are an outage, and count as no attempt.
 */
import { createHash } from "node:crypto"
import { type CallFailed, PeerClient, type WriteConcern } from "@holdfast/client"
import { keyFromBigInt, type PartitionKey } from "@holdfast/keyspace"
import type { SourceRecord } from "@holdfast/records"
import {
  type OpenShard,
  openStage,
  Pipeline,
  StageFailure,
  type StageItem,
  type StageOptions
} from "@holdfast/service-worker"
import { Duration, Effect, Layer } from "effect"
import { UnconfirmedRequests } from "./unconfirmed-requests.ts"

/** One event for one partition, as the application's schema has it in JSON. */
export interface ProjectedEvent {
  readonly key: PartitionKey
  readonly event: unknown
}

/** How records are folded. */
export interface ProjectionOptions {
  /** The application that the peers host. */
  readonly application: string
  /** Names this projection in its request ids: another one of the same records counts by itself. */
  readonly source: string
  /** What a record means; throws where it means nothing that can be understood. */
  readonly project: (record: SourceRecord) => ReadonlyArray<ProjectedEvent>
  /** Participants that must hold an event before its record is done. Default majority. */
  readonly writeConcern?: WriteConcern | undefined
  /** Requests under way at a time, by shard. Default 64. */
  readonly concurrency?: number | undefined
  /** Requests to one partition that a crash may repeat, by shard. Default 16. */
  readonly unconfirmedMax?: number | undefined
}

const defaults = { writeConcern: "majority", concurrency: 64, unconfirmedMax: 16 } as const
const backlog = 4_096
/** How long an event may wait for a checkpoint that lets it go. */
const checkpointPatience = Duration.seconds(30)
/** Above what the client itself takes for a request and its retries. */
const itemDeadline = Duration.minutes(2)

/** Whether another attempt at the same event is in vain. */
const fatalCodes: ReadonlySet<string> = new Set([
  "invalid-event",
  "invalid-request",
  "partition-too-large",
  "too-large"
])

/** The partition of an application for a key of any letters. */
export const partitionKeyOf = (application: string, key: string | Uint8Array): PartitionKey =>
  keyFromBigInt(
    BigInt(`0x${createHash("sha256").update(`${application}\n`).update(key).digest("hex")}`)
  )

/** The id of an item's request: the same at every delivery of its record. */
const requestIdOf = (
  source: string,
  { index, part, record, shard }: Pick<StageItem<unknown>, "index" | "part" | "record" | "shard">
): string =>
  createHash("sha256")
    .update(JSON.stringify([source, shard, record.position.toString(), part?.index ?? -1, index]))
    .digest("hex")
    .slice(0, 40)

const failureOf = ({ code, message }: CallFailed): StageFailure =>
  new StageFailure({ kind: fatalCodes.has(code) ? "fatal" : "outage", message })

/** Waits until one more request to a partition may be sent. */
const awaitRoom = (
  unconfirmed: UnconfirmedRequests,
  opening: OpenShard,
  { key, max }: { readonly key: string; readonly max: number }
): Effect.Effect<void, StageFailure> =>
  Effect.gen(function* () {
    while (unconfirmed.countOf(key) >= max) {
      const before = unconfirmed.confirmations
      opening.requestCheckpoint()
      yield* unconfirmed.signal.waitUntil(() => unconfirmed.confirmations !== before)
    }
  }).pipe(
    Effect.timeoutOrElse({
      duration: checkpointPatience,
      orElse: () => {
        const patience = Duration.format(checkpointPatience)
        const message = `no checkpoint has let a request to ${key} go for ${patience}`
        return Effect.fail(new StageFailure({ kind: "outage", message }))
      }
    })
  )

const openProjection = (
  options: ProjectionOptions,
  peers: PeerClient["Service"],
  opening: OpenShard
) => {
  const { application, project, source } = options
  const writeConcern = options.writeConcern ?? defaults.writeConcern
  const max = options.unconfirmedMax ?? defaults.unconfirmedMax
  const unconfirmed = new UnconfirmedRequests()
  const stage: StageOptions<ProjectedEvent> = {
    extract: project,
    ordering: { _tag: "ByKey", keyOf: ({ key }) => key },
    concurrency: options.concurrency ?? defaults.concurrency,
    backlog,
    deadline: itemDeadline,
    process: (item) =>
      Effect.gen(function* () {
        const { event, key } = item.item
        yield* awaitRoom(unconfirmed, opening, { key, max })
        yield* peers
          .request({
            application,
            key,
            events: [event],
            writeConcern,
            requestId: requestIdOf(source, item)
          })
          .pipe(Effect.mapError(failureOf))
        const part = item.part?.index ?? (item.total === 1 ? undefined : item.index)
        unconfirmed.add(key, { position: item.record.position, part })
      })
  }
  return Effect.map(openStage(stage, opening), (shard) => ({
    ...shard,
    checkpointed: (saved: OpenShard["resume"]) => unconfirmed.confirm(saved)
  }))
}

/** A worker's pipeline into partitions of an application. */
export const projectionLayer = (
  options: ProjectionOptions
): Layer.Layer<Pipeline, never, PeerClient> =>
  Layer.effect(
    Pipeline,
    Effect.map(PeerClient, (peers) =>
      Pipeline.of({ open: (opening) => openProjection(options, peers, opening) })
    )
  )
