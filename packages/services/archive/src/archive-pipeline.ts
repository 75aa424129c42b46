/**
 * The archive's pipeline: records of a shard into segments, onto devices, into the catalogue.
 *
 *     offer ─▶ lanes ─(full, old, flushed)─▶ storing, several at a time ─▶ report Done
 *                                              └─ again and again ─▶ report Failed
 *
 * 1. A record is reported as done when its segment is durable on its devices, committed, and sealed
 *    with the write concern; never before.
 * 2. A segment that cannot be stored within its attempts leaves its records failed: the worker's
 *    policy decides when they come again.
 * 3. Memory is bounded: the open segments, `storingMax` sealed ones, and one batch.
 * 4. After a takeover what complete segments hold beyond the checkpoint is not asked for again,
 *    once their entries are confirmed: the one peer that tells of a segment may hold it alone.
 * 5. Closing the scope ends everything: what is being stored is given up, nothing is reported.
 */
import type { ArchiveEntry, SegmentEntry } from "@holdfast/catalogue"
import {
  ArchiveClient,
  ArchiveNotFound,
  CatalogueClient,
  ChunkClient,
  MetadataClient,
  type WriteConcern
} from "@holdfast/client"
import {
  type FinishedStretch,
  type OpenShard,
  Pipeline,
  PipelineError,
  type ShardPipeline
} from "@holdfast/service-worker"
import { makeRequestId } from "@holdfast/wire"
import {
  Clock,
  Duration,
  Effect,
  Latch,
  Layer,
  Option,
  Result,
  Schedule,
  type Scope,
  Stream
} from "effect"
import { Lanes, type Taken } from "./lanes.ts"
import { declareMetrics, segmentsStored, storedRecords, storeFailures } from "./metrics.ts"
import type { SegmentJob } from "./open-segment.ts"
import { makeStore, type StoreError, type StoreParts } from "./store-segment.ts"

/** How a pipeline archives. */
export interface ArchivePipelineOptions {
  /** The archive that a shard belongs to. */
  readonly archiveOf: (shard: { readonly shard: string; readonly stream: string }) => string
  /** Participants that must hold the entry of a segment before its records are done. */
  readonly writeConcern?: WriteConcern
  /** Fewer durable copies than this (or than the goal) are a failure. */
  readonly minCopies?: number
  /** Segments of one shard that are being stored at a time. */
  readonly storingMax?: number
  /** Attempts at a segment before its records are reported as failed. */
  readonly attemptsMax?: number
  /** How often the archive's settings are looked at again. */
  readonly refresh?: Duration.Input
}

const defaults = {
  writeConcern: "majority",
  minCopies: 2,
  storingMax: 4,
  attemptsMax: 3,
  refresh: "10 seconds"
} as const

/** Entries that are confirmed at a time when a shard is opened. */
const confirmingMax = 8
const tick = "100 millis"
const retryPause = Schedule.exponential("200 millis").pipe(Schedule.jittered)

const unavailable = (message: string) => new PipelineError({ code: "unavailable", message })
const invalid = (message: string) => new PipelineError({ code: "invalid", message })

/** Whether trying the same segment again may help. */
const isFinal = (error: StoreError): boolean => error._tag === "SealRefused"

/** Why nothing is archived into it now; undefined when it is open. */
const refusalOf = ({ origin, status }: ArchiveEntry): PipelineError | undefined => {
  switch (status) {
    case "active":
      return undefined
    case "paused":
      return unavailable(`The archive "${origin.name}" is paused.`)
    case "removed":
      return invalid(`The archive "${origin.name}" was removed.`)
  }
}

/** A position at or above everything that is finished above the checkpoint; none if nothing is. */
const finishedUpTo = (
  finished: ReadonlyArray<FinishedStretch>,
  { completion }: OpenShard["resume"]
): bigint | undefined => {
  const { claims, partials } = completion
  const claimed =
    claims._tag === "Runs" ? claims.to.at(-1) : claims.origin + BigInt(claims.bytes.length * 8)
  return [claimed, partials.at(-1)?.position, ...finished.map(({ to }) => to)].reduce(
    (highest, one) =>
      highest === undefined || (one !== undefined && one > highest) ? one : highest,
    undefined
  )
}

const makePipeline = Effect.fnUntraced(function* (given: ArchivePipelineOptions) {
  const options = { ...defaults, ...given }
  const archives = yield* ArchiveClient
  const parts: StoreParts = {
    catalogue: yield* CatalogueClient,
    chunks: yield* ChunkClient,
    metadata: yield* MetadataClient
  }

  const lookUp = Effect.fnUntraced(function* (
    name: string
  ): Effect.fn.Return<ArchiveEntry, PipelineError> {
    const archive = yield* archives
      .show(name)
      .pipe(
        Effect.mapError((error) =>
          error instanceof ArchiveNotFound ? invalid(error.message) : unavailable(error.message)
        )
      )
    const refusal = refusalOf(archive)
    return refusal === undefined ? archive : yield* refusal
  })

  /** Seals a segment once more, with the write concern; none when another one has its place. */
  const confirm = (segment: SegmentEntry) =>
    parts.catalogue
      .send(
        parts.catalogue.segmentKey(segment),
        { _tag: "Sealed", segment },
        { writeConcern: options.writeConcern }
      )
      .pipe(Effect.map(({ _tag }) => _tag === "Unchanged" || _tag === "Accepted"))

  /** What the catalogue knows to be complete above the checkpoint, by now durably. */
  const finishedAbove = (archive: ArchiveEntry, opening: OpenShard) => {
    const { after } = opening.resume
    const bounds = after === undefined ? {} : { from: after + 1n }
    return archives.segments(archive.origin.name, opening.shard, bounds).pipe(
      Stream.filter(({ chunk, complete }) => complete && chunk.fileId === archive.origin.fileId),
      Stream.mapEffect(
        (segment) => Effect.map(confirm(segment), (isKept) => (isKept ? [segment] : [])),
        { concurrency: confirmingMax }
      ),
      Stream.flattenIterable,
      Stream.map(({ first, last }): FinishedStretch => ({ from: first, to: last })),
      Stream.runCollect,
      Effect.mapError((error) => unavailable(error.message))
    )
  }

  /** Stores a segment within its attempts, and reports what became of its records. */
  const settle = Effect.fnUntraced(function* (job: SegmentJob, report: OpenShard["report"]) {
    const requestId = yield* makeRequestId
    const { minCopies, writeConcern } = options
    const store = makeStore(parts, job, { minCopies, writeConcern, requestId })
    const outcome = yield* store.pipe(
      Effect.tapError((error) =>
        Effect.andThen(storeFailures, Effect.logWarning(`not stored yet: ${error.message}`))
      ),
      Effect.retry({
        schedule: retryPause,
        times: options.attemptsMax - 1,
        while: (error) => !isFinal(error)
      }),
      Effect.result
    )
    if (Result.isSuccess(outcome)) {
      yield* segmentsStored
      yield* storedRecords(job.contents.count)
      report(job.contents.done())
      return
    }
    const { failure } = outcome
    const fatal = isFinal(failure)
    report(job.contents.failed({ reason: failure.message, fatal, outage: !fatal }))
  })

  const open = Effect.fnUntraced(function* (
    opening: OpenShard
  ): Effect.fn.Return<ShardPipeline, PipelineError, Scope.Scope> {
    const { report, resume, shard } = opening
    const name = options.archiveOf(opening)
    const archive = yield* lookUp(name)
    const finished = yield* finishedAbove(archive, opening)
    const lanes = new Lanes({ shard, archive, finishedUpTo: finishedUpTo(finished, resume) })
    const scope = yield* Effect.scope
    const room = yield* Latch.make(true)
    let storing = 0
    let stopped: PipelineError | undefined

    const run = (job: SegmentJob) =>
      Effect.suspend(() => {
        storing++
        if (storing >= options.storingMax) room.closeUnsafe()
        return Effect.forkIn(
          Effect.ensuring(
            settle(job, report),
            Effect.sync(() => {
              storing--
              if (storing < options.storingMax) room.openUnsafe()
            })
          ),
          scope
        )
      })

    const carryOut = ({ jobs, refused }: Taken): Effect.Effect<void> =>
      Effect.andThen(
        Effect.forEach(jobs, run, { discard: true }),
        Effect.sync(() => {
          if (refused.length > 0) report(refused)
        })
      )

    const sealOld = Effect.flatMap(Clock.monotonicTimeNanos, (now) =>
      carryOut({ jobs: lanes.seal({ _tag: "Old", now }), refused: [] })
    )

    const follow = (current: ArchiveEntry): void => {
      const isAnother = current.origin.fileId !== archive.origin.fileId
      if (isAnother) stopped = unavailable(`The archive "${name}" was created anew.`)
      else stopped = refusalOf(current)
      lanes.useArchive(current)
    }
    // That the catalogue is away now is no reason to stop: storing finds out for itself.
    const refresh = archives.show(name).pipe(
      Effect.map(follow),
      Effect.catch((error) => Effect.logDebug("the archive was not looked up", error))
    )

    yield* Effect.forkScoped(Effect.repeat(sealOld, Schedule.spaced(tick)))
    yield* Effect.forkScoped(Effect.repeat(refresh, Schedule.spaced(options.refresh)))

    return {
      finished,
      takesParts: true,
      aggregation: archive.origin.aggregation ?? "none",
      exhausted: () => lanes.archive.settings.onError,
      offer: (batch) =>
        Effect.gen(function* () {
          while (storing >= options.storingMax) yield* room.await
          if (stopped !== undefined) return yield* stopped
          const now = yield* Clock.monotonicTimeNanos
          yield* Effect.uninterruptible(Effect.suspend(() => carryOut(lanes.take(batch, now))))
        }),
      heartbeat: () => sealOld,
      flush: ({ mode }) =>
        mode === "partial"
          ? sealOld
          : Effect.suspend(() => carryOut({ jobs: lanes.seal({ _tag: "All" }), refused: [] }))
    }
  })

  return Pipeline.of({ open })
})

/** A worker's pipeline into an archive. */
export const archivePipelineLayer = (
  options: ArchivePipelineOptions
): Layer.Layer<Pipeline, never, ArchiveClient | CatalogueClient | ChunkClient | MetadataClient> =>
  Layer.effect(Pipeline, Effect.andThen(declareMetrics, makePipeline(options)))

/** Every archive is named by its stream, or by what the caller says. */
export const archiveNamed =
  (name: Option.Option<string>) =>
  ({ stream }: { readonly stream: string }): string =>
    Option.getOrElse(name, () => stream)
