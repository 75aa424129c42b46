/**
 * The intake of a shard: reads batches, admits records as soon as there is room for one, and offers
 * them to the pipeline.
 *
 * 1. What the tracker refuses stays here and is admitted when something has finished; meanwhile
 *    nothing more is read.
 * 2. Every wait ends when the intake is stopped: a pull that is open is given up, and what it would
 *    have brought comes again.
 * 3. Whatever was admitted is offered, also while the intake stops.
 * 4. A source that is away is opened again, behind the newest record that was admitted.
 */
import type { Refusal } from "@holdfast/disposition"
import {
  type RecordBatch,
  RecordSource,
  RecordSourceError,
  type ShardReader
} from "@holdfast/records"
import { Duration, Effect, Option } from "effect"
import { type Entry, entriesOf } from "./entries.ts"
import { addOffers } from "./held-records.ts"
import type { OfferedRecord, PipelineError, ShardPipeline } from "./pipeline.ts"
import type { ShardRun } from "./shard-run.ts"
import { isTrusted } from "./source-check.ts"

/** Reads until the intake is stopped or the shard ends; it fails only through the run. */
export const intake = Effect.fnUntraced(function* (run: ShardRun, pipeline: ShardPipeline) {
  const { retryFirstMs, retryHighestMs } = run.options.config
  let delayMs = retryFirstMs
  while (!run.isIntakeStopped) {
    const before = run.tracker.newestPosition
    const failure = yield* readOnce(run, pipeline).pipe(
      Effect.as(undefined),
      Effect.catch((error) => Effect.succeed(error))
    )
    if (failure === undefined) return
    if (!(failure instanceof RecordSourceError)) return endBy(run, failure)
    run.counters.sourceErrors += 1
    if (failure.code !== "unavailable") {
      return run.halt(`the source refused (${failure.code}): ${failure.message}`)
    }
    yield* Effect.logWarning(`the source of ${run.options.shard} is away: ${failure.message}`)
    delayMs = run.tracker.newestPosition === before ? delayMs : retryFirstMs
    yield* Effect.raceFirst(Effect.sleep(Duration.millis(delayMs)), awaitStop(run))
    delayMs = Math.min(delayMs * 2, retryHighestMs)
  }
})

/** Ends a run as its pipeline's refusal says. */
export const endBy = (run: ShardRun, { code, message }: PipelineError): void => {
  switch (code) {
    case "unavailable":
      return run.fail(message)
    case "fenced":
      return run.finish({ _tag: "Fenced", reason: message })
    case "invalid":
      return run.halt(message)
  }
}

const awaitStop = (run: ShardRun): Effect.Effect<void> =>
  run.signal.waitUntil(() => run.isIntakeStopped)

const readOnce = (run: ShardRun, pipeline: ShardPipeline) =>
  Effect.scoped(
    Effect.gen(function* () {
      const source = yield* RecordSource
      const after = Option.fromUndefinedOr(run.tracker.newestPosition)
      const reader = yield* source.open({ shard: run.options.shard, after })
      run.reader = reader
      yield* readAll(run, pipeline, reader)
    })
  )

const readAll = Effect.fnUntraced(function* (
  run: ShardRun,
  pipeline: ShardPipeline,
  reader: ShardReader
): Effect.fn.Return<void, PipelineError | RecordSourceError> {
  const { batchBytes, batchRecords, pullWaitMs } = run.options.config
  const { limits } = run.tracker
  while (!run.isIntakeStopped) {
    const { bytes, records } = run.tracker.standing
    const maxRecords = Math.min(batchRecords, limits.records - records)
    if (maxRecords <= 0) {
      yield* awaitRoom(run, pipeline)
      continue
    }
    const maxBytes = Math.max(1, Math.min(batchBytes, limits.bytes - bytes))
    const next = reader.next({ maxRecords, maxBytes, wait: Duration.millis(pullWaitMs) })
    const batch = yield* Effect.raceFirst(
      Effect.asSome(next),
      Effect.as(awaitStop(run), Option.none<RecordBatch>())
    )
    if (Option.isNone(batch)) return
    run.newestInSource = Option.getOrElse(batch.value.newest, () => run.newestInSource)
    if (!isTrusted(run)) return
    yield* take(run, pipeline, batch.value)
    if (batch.value.endOfShard && !run.isIntakeStopped) {
      run.isEnded = true
      return
    }
  }
})

/**
 * Admits what a batch brought and offers what is new of it in as few calls as there is room for.
 */
const take = Effect.fnUntraced(function* (
  run: ShardRun,
  pipeline: ShardPipeline,
  batch: RecordBatch
): Effect.fn.Return<void, PipelineError> {
  const seenAt = run.now()
  const wasEmpty = run.tracker.isEmpty
  let offered: Array<OfferedRecord> = []
  for (const entry of entriesOf(batch, run.options.open)) {
    let refusal = admit(run, entry, { seenAt, offered })
    while (refusal !== undefined && !run.isIntakeStopped) {
      if (refusal._tag !== "LimitReached") {
        run.halt(describeRefusal(entry.position, refusal))
        break
      }
      if (offered.length > 0) yield* pipeline.offer(offered)
      offered = []
      yield* awaitRoom(run, pipeline)
      refusal = admit(run, entry, { seenAt, offered })
    }
    if (run.isIntakeStopped) break
  }
  // Idle time is no stall: the alarm counts from the first record after it.
  if (wasEmpty) run.progressAt = seenAt
  if (offered.length > 0) yield* pipeline.offer(offered)
})

/** Admits one entry; answers why not, if it was refused. */
const admit = (
  run: ShardRun,
  { bytes, held, isDamaged, parts, position }: Entry,
  { offered, seenAt }: { readonly offered: Array<OfferedRecord>; readonly seenAt: number }
): Refusal | undefined => {
  const admission = run.tracker.admit(
    parts === undefined ? { position, bytes, seenAt } : { position, bytes, seenAt, parts }
  )
  switch (admission._tag) {
    case "Admitted":
    case "Resumed": {
      if (held === undefined) return undefined
      const { ordinal } = admission
      run.held.hold(ordinal, held)
      if (isDamaged) run.counters.damagedAggregates += 1
      if (held.parts !== undefined) countAggregate(run, held.parts.length)
      const finishedParts = admission._tag === "Resumed" ? admission.finished : undefined
      addOffers(offered, held, { ordinal, attempt: 1, finishedParts })
      return undefined
    }
    case "Finished":
      if (held === undefined) run.counters.sourceGaps += 1
      else if (parts === 0) countAggregate(run, 0)
      return undefined
    case "Repeated":
    case "Stale":
      return undefined
    case "Refused":
      return admission.refusal
  }
}

const countAggregate = ({ counters }: ShardRun, userRecords: number): void => {
  counters.aggregates += 1
  counters.userRecords += userRecords
}

const describeRefusal = (
  position: bigint,
  refusal: Exclude<Refusal, { readonly _tag: "LimitReached" }>
): string => {
  switch (refusal._tag) {
    case "TooLarge":
      return `position ${position} is over ${refusal.maximum} ${refusal.what}`
    case "OutOfOrder":
      return `the source delivered position ${position} after ${refusal.newest}`
  }
}

/**
 * Waits until something has finished. A pipeline may be waiting for more records to fill a segment
 * while this waits for room: after a heartbeat's time without progress it is asked to seal.
 */
const awaitRoom = Effect.fnUntraced(function* (
  run: ShardRun,
  pipeline: ShardPipeline
): Effect.fn.Return<void, PipelineError> {
  const { drainDeadlineMs, heartbeatIntervalMs } = run.options.config
  const before = run.settled
  const hasRoom = run.signal.waitUntil(() => run.settled !== before || run.isIntakeStopped)
  const patience = Duration.millis(heartbeatIntervalMs)
  const answer = yield* Effect.timeoutOption(hasRoom, patience)
  if (Option.isSome(answer)) return
  yield* pipeline.flush({ mode: "full", deadline: Duration.millis(drainDeadlineMs) })
  yield* hasRoom
})
