/**
 * The timers of a shard: heartbeats, partial flushes, checkpoints, retries and the alarms.
 * Each has its own interval and goes on whether records come or not; none waits behind an offer.
 */
import { Duration, Effect, Option } from "effect"
import { addOffers } from "./held-records.ts"
import { endBy } from "./intake.ts"
import type { OfferedRecord, PipelineError, ShardPipeline } from "./pipeline.ts"
import type { ShardRun } from "./shard-run.ts"

const every = (intervalMs: number, work: Effect.Effect<void>) =>
  Effect.forever(Effect.andThen(Effect.sleep(Duration.millis(intervalMs)), work))

const endingRun =
  (run: ShardRun) =>
  (work: Effect.Effect<void, PipelineError>): Effect.Effect<void> =>
    Effect.catch(work, (error) => Effect.sync(() => endBy(run, error)))

/** Beats, also on an idle stream: batching pipelines go on by it. */
export const heartbeats = (run: ShardRun, pipeline: ShardPipeline) => {
  const { callDeadlineMs, heartbeatIntervalMs } = run.options.config
  const beat = Effect.suspend(() => {
    run.counters.heartbeats += 1
    const admitted = run.tracker.counters.admitted
    return pipeline.heartbeat({ count: run.counters.heartbeats, admitted })
  }).pipe(
    Effect.timeoutOption(Duration.millis(callDeadlineMs)),
    Effect.map((answer) => {
      if (Option.isNone(answer)) run.counters.slowHeartbeats += 1
    }),
    endingRun(run)
  )
  return every(heartbeatIntervalMs, beat)
}

/** Lets go what is ready, at intervals. */
export const flushes = (run: ShardRun, pipeline: ShardPipeline) => {
  const { callDeadlineMs, flushIntervalMs } = run.options.config
  const deadline = Duration.millis(callDeadlineMs)
  const flush = Effect.suspend(() => {
    run.counters.flushes += 1
    const begunAt = run.now()
    return pipeline.flush({ mode: "partial", deadline }).pipe(
      Effect.timeoutOption(deadline),
      Effect.map(() => run.latencies.flush.note(run.now() - begunAt))
    )
  }).pipe(endingRun(run))
  return every(flushIntervalMs, flush)
}

/** Saves what has been finished, at intervals, and when the pipeline waits for that. */
export const checkpoints = (run: ShardRun, save: Effect.Effect<void>) => {
  const { checkpointIntervalMs } = run.options.config
  const due = Effect.raceFirst(
    Effect.sleep(Duration.millis(checkpointIntervalMs)),
    run.signal.waitUntil(() => run.isCheckpointWanted)
  )
  const saveNow = Effect.suspend(() => {
    run.isCheckpointWanted = false
    return save
  })
  return Effect.forever(Effect.andThen(due, saveNow))
}

/** Offers records again when their next attempt is due. */
export const retries = (run: ShardRun, pipeline: ShardPipeline) =>
  Effect.forever(
    Effect.gen(function* () {
      yield* run.signal.waitUntil(() => run.retries.size > 0)
      const dueAt = run.retries.nextDue()
      if (dueAt === undefined) return
      const isEarlier = (): boolean => (run.retries.nextDue() ?? dueAt) < dueAt
      yield* Effect.raceFirst(
        Effect.sleep(Duration.millis(Math.max(0, dueAt - run.now()))),
        run.signal.waitUntil(isEarlier)
      )
      const batch = dueRecords(run)
      run.counters.retries += batch.length
      if (batch.length > 0) yield* endingRun(run)(pipeline.offer(batch))
    })
  )

const dueRecords = (run: ShardRun): ReadonlyArray<OfferedRecord> => {
  const offers: Array<OfferedRecord> = []
  for (const { attempt, ordinal, parts } of run.retries.takeDue(run.now())) {
    const held = run.held.get(ordinal)
    if (held === undefined) continue
    const finishedParts = run.tracker.finishedParts(ordinal)
    addOffers(offers, held, { ordinal, attempt, finishedParts, onlyParts: parts })
  }
  return offers
}

/** Says which records are stuck when nothing has moved for too long; it stops nothing by itself. */
export const stallAlarm = (run: ShardRun) => {
  const { stallAlarmMs } = run.options.config
  const look = Effect.suspend(() => {
    const isStill = !run.tracker.isEmpty && run.now() - run.progressAt >= stallAlarmMs
    if (!isStill || run.stallReason !== undefined) return Effect.void
    run.counters.stalls += 1
    run.stallReason = `nothing has moved for ${stallAlarmMs} ms; oldest: ${run.stuck(3).join("; ")}`
    return Effect.logWarning(`${run.options.shard}: ${run.stallReason}`)
  })
  return every(Math.max(1, Math.ceil(stallAlarmMs / 4)), look)
}

/** Says once that the shard was halted, and why; the status shows it for as long as it lasts. */
export const haltNotice = (run: ShardRun) =>
  Effect.andThen(
    run.signal.waitUntil(() => run.haltReason !== undefined),
    Effect.suspend(() => Effect.logError(`${run.options.shard} is halted: ${run.haltReason}`))
  )
