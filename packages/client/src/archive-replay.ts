/**
 * Publishing an archive's records again, into a stream that may have some of them already.
 *
 *     target.earlier ─▶ newest place of each shard ─▶ records behind it, paced ─▶ target.publish
 *
 * 1. A run publishes the records of each shard in order, and the target stores them in turn. So of
 *    each shard the target has, or had, a beginning of the selection and nothing else of it,
 *    however many runs it took and wherever each of them ended.
 * 2. Therefore the newest id of a shard in the target says where to go on: what stands before it
 *    was brought, even if the target has forgotten it since; what stands behind it was not. Several
 *    shards are merged by time into one run, each with a place of its own.
 * 3. That holds for one selection only, so the ids name it: another selection is another replay.
 *    The last position is no part of it; `upTo` must not pass what a shard has completely, because
 *    a record that is archived late, below the newest place, would not be brought any more.
 * 4. Ids are made of archive, selection, shard and position: what is published twice all the same
 *    (an answer that was lost, two runs at once) is dropped within the target's memory of ids.
 */
import {
  type ArchiveEntry,
  readReplayId,
  type Replay,
  replayId,
  replayOf,
  type ReplayPlace,
  type ReplaySelection
} from "@holdfast/catalogue"
import type { ReplayRecord, ReplayTarget } from "@holdfast/records"
import { Clock, Duration, Effect, Stream } from "effect"
import type { ArchivedRecord } from "./archive-reader.ts"
import type { SearchError } from "./archive-search.ts"
import type { CatalogueClient } from "./catalogue-client.ts"
import { type CatalogueError, InvalidRequest, ReplayStopped } from "./errors.ts"
import { cataloguePlatform } from "./platform.ts"
import type { ReplayOrder, ReplayReading, ReplayRun } from "./replay-order.ts"
import { makePacer, type ReplayPace } from "./replay-pace.ts"

/** What to replay, where to, and how. Positions and times are inclusive. */
export interface ReplayOptions extends ReplaySelection {
  readonly archive: string
  readonly target: ReplayTarget
  readonly to?: bigint | undefined
  /** For shards that are still written to: up to where each is complete. */
  readonly upTo?: ReadonlyMap<string, bigint> | undefined
  readonly pace?: ReplayPace | undefined
  /** Told once, before the first record. */
  readonly onStart?: ((start: ReplayStart) => Effect.Effect<void>) | undefined
  /** Told how many records are in the target by this run. */
  readonly onProgress?: ((records: number) => Effect.Effect<void>) | undefined
}

/** Where a run begins. */
export interface ReplayStart {
  /** The last record of each shard that the target had from earlier runs. */
  readonly resumed: ReadonlyArray<ReplayPlace>
  /** About how many records are to come, where that can be told. */
  readonly expected: number | undefined
}

/** What a run did. */
export interface ReplayReport {
  readonly archive: string
  readonly resumed: ReadonlyArray<ReplayPlace>
  /** Records that this run brought. */
  readonly published: number
  /** Records that the target knew already by their ids. */
  readonly duplicates: number
}

/** Everything that a replay may fail with. */
export type ReplayError = SearchError | ReplayStopped

const batchRecords = 8_192
const batchBytes = 4 * 1_024 * 1_024
/** The shortest rest between batches: records that are due by then go together. */
const restNanos = 5e6

/** Replays archives. */
export const makeArchiveReplay = (parts: {
  readonly catalogue: CatalogueClient["Service"]
  readonly order: ReplayOrder
}) => {
  const { catalogue, order } = parts

  const readingOf = Effect.fnUntraced(function* (
    archive: ArchiveEntry,
    replay: Replay,
    options: ReplayOptions
  ): Effect.fn.Return<ReplayReading, CatalogueError | ReplayStopped> {
    const shards =
      options.shard === undefined
        ? yield* Stream.runCollect(catalogue.shards(archive.origin.name))
        : [options.shard]
    const places = yield* placesIn(options.target, replay, shards)
    const stretches = shards.map((shard) => {
      const bound = options.upTo?.get(shard)
      const { to } = options
      return {
        shard,
        after: places.get(shard),
        to: to === undefined || (bound !== undefined && bound < to) ? bound : to
      }
    })
    return { archive, selection: options, stretches }
  })

  return Effect.fnUntraced(function* (
    archive: ArchiveEntry,
    options: ReplayOptions
  ): Effect.fn.Return<ReplayReport, ReplayError> {
    const { target } = options
    const pace = options.pace ?? { _tag: "Fastest" }
    const fault = paceFault(pace)
    if (fault !== undefined) return yield* new InvalidRequest({ message: fault })
    const replay = replayOf(archive.origin, options, cataloguePlatform)
    const reading = yield* readingOf(archive, replay, options)
    const resumed = reading.stretches.flatMap(({ after }) => (after === undefined ? [] : [after]))
    if (options.onStart !== undefined) {
      yield* options.onStart({ resumed, expected: yield* order.estimate(reading) })
    }
    const sender = yield* makeSender({ replay, target, pace, onProgress: options.onProgress })
    yield* Stream.runForEach(order.runs(reading), sender.send)
    return { archive: archive.origin.name, resumed, ...sender.sent() }
  })
}

const paceFault = (pace: ReplayPace): string | undefined => {
  const isRight = (value: number): boolean => Number.isFinite(value) && value > 0
  switch (pace._tag) {
    case "Fastest":
      return undefined
    case "Rate":
      return isRight(pace.perSecond) ? undefined : "The rate of a replay must be above 0."
    case "Original":
      return isRight(pace.factor) ? undefined : "The factor of a replay must be above 0."
  }
}

/** The newest place of each shard that earlier runs of a replay brought to a target. */
const placesIn = Effect.fnUntraced(function* (
  target: ReplayTarget,
  replay: Replay,
  shards: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyMap<string, ReplayPlace>, ReplayStopped> {
  const missing = new Set(shards)
  const places = new Map<string, ReplayPlace>()
  const take = (ids: ReadonlyArray<string>): boolean => {
    for (const id of ids) {
      const place = readReplayId(replay, id)
      if (place !== undefined && missing.delete(place.shard)) places.set(place.shard, place)
    }
    return missing.size > 0
  }
  if (missing.size > 0) {
    yield* Stream.runForEachWhile(target.earlier, (ids) => Effect.sync(() => take(ids))).pipe(
      Effect.mapError(({ code, message }) => {
        const text = `How far ${target.name} has come cannot be told: ${message}`
        return new ReplayStopped({ code, published: 0, message: text })
      })
    )
  }
  return places
})

/** Publishes runs of records, each when it is due, and counts. */
const makeSender = Effect.fnUntraced(function* (options: {
  readonly replay: Replay
  readonly target: ReplayTarget
  readonly pace: ReplayPace
  readonly onProgress: ReplayOptions["onProgress"]
}) {
  const { replay, target } = options
  const pacer = makePacer(options.pace)
  const started = yield* Clock.monotonicTimeNanos
  const elapsed = Effect.map(Clock.monotonicTimeNanos, (now) => Number(now - started))
  let published = 0
  let duplicates = 0

  const publish = Effect.fnUntraced(function* (
    records: ReadonlyArray<ReplayRecord>
  ): Effect.fn.Return<void, ReplayStopped> {
    const answer = yield* target.publish(records).pipe(
      Effect.mapError(({ code, message, stored }) => {
        published += stored
        const text =
          `The replay stopped at ${records[stored]?.id ?? "its end"}: ${message}. ` +
          `${published} records of this run are in ${target.name}; the same replay goes on behind them.`
        return new ReplayStopped({ code, published, message: text })
      })
    )
    published += records.length - answer.duplicates
    duplicates += answer.duplicates
    if (options.onProgress !== undefined) yield* options.onProgress(published)
  })

  const send = Effect.fnUntraced(function* (run: ReplayRun): Effect.fn.Return<void, ReplayStopped> {
    let batch: Array<ReplayRecord> = []
    let bytes = 0
    let now = yield* elapsed
    const flush = Effect.gen(function* () {
      if (batch.length > 0) yield* publish(batch)
      batch = []
      bytes = 0
      now = yield* elapsed
    })
    for (const archived of run) {
      const due = pacer.due(archived.record.timestamp)
      if (due > now) yield* flush
      if (due > now) {
        yield* Effect.sleep(Duration.nanos(BigInt(Math.ceil(Math.max(due - now, restNanos)))))
        now = yield* elapsed
      }
      pacer.late(now - due)
      batch.push(toReplayRecord(replay, archived))
      bytes += archived.record.data.length
      if (batch.length >= batchRecords || bytes >= batchBytes) yield* flush
    }
    yield* flush
  })
  return { send, sent: () => ({ published, duplicates }) }
})

const toReplayRecord = (replay: Replay, { record, shard }: ArchivedRecord): ReplayRecord => ({
  id: replayId(replay, { shard, position: record.position, part: record.part }),
  timestamp: record.timestamp,
  subject: record.subject,
  headers: record.headers,
  data: record.data
})
