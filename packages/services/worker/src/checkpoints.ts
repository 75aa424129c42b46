/**
 * Writes checkpoints: by compare-and-set, under the lease's epoch, never backwards.
 *
 *     requested ──▶ saved ──▶ confirmed ──▶ acknowledged to the source
 *                     ├─────▶ conflict, and not our own write ──▶ fenced
 *                     └─────▶ no answer ──▶ again at the next interval
 *
 * 1. One write of a shard is under way at a time.
 * 2. Nothing is written once the run is fenced.
 * 3. A write whose answer was lost is recognised by its owner and epoch, and is no conflict.
 * 4. The source is told of nothing that the store has not confirmed. It is told again at each
 *    interval until it has heard: a consumer whose deliveries all wait for that delivers no more.
 */
import { checkpoint, emptyMap, encodeMap } from "@holdfast/disposition"
import {
  type Checkpoint,
  type CheckpointConflict,
  CheckpointStore,
  CheckpointStoreError
} from "@holdfast/records"
import { Duration, Effect, Option, Semaphore } from "effect"
import type { ShardRun } from "./shard-run.ts"

/** Saves a run's progress when it has changed; fails only through the run. */
export const makeSave = (run: ShardRun) =>
  Effect.gen(function* () {
    const store = yield* CheckpointStore
    const gate = yield* Semaphore.make(1)
    const saved = { finished: 0, mapBytesMax: run.options.config.mapBytesMax }
    const save = Effect.suspend(() => {
      if (run.tracker.isFenced) return Effect.void
      const finished = progressOf(run)
      if (finished === saved.finished) return acknowledge(run)
      const saving = saveNow(run, store, saved.mapBytesMax).pipe(
        Effect.tap(() => Effect.sync(() => (saved.finished = finished))),
        Effect.catchTag("CheckpointConflict", (conflict) => resolve(run, store, conflict)),
        Effect.catchTag("CheckpointStoreError", (error) => {
          if (error.code === "too-large") saved.mapBytesMax = Math.ceil(saved.mapBytesMax / 2)
          run.counters.checkpointsFailed += 1
          return Effect.logWarning(`no checkpoint of ${run.options.shard}: ${error.message}`)
        })
      )
      return Effect.andThen(saving, acknowledge(run))
    })
    return gate.withPermits(1)(save)
  })

/** Rises whenever a checkpoint would say more: parts count too. */
const progressOf = ({ tracker }: ShardRun): number =>
  tracker.counters.finished + tracker.counters.partsFinished

const saveNow = Effect.fnUntraced(function* (
  run: ShardRun,
  store: CheckpointStore["Service"],
  mapBytesMax: number
): Effect.fn.Return<void, CheckpointConflict | CheckpointStoreError> {
  const { config, epoch, shard } = run.options
  const { map, position } = checkpoint(run.tracker)
  const { bytes, droppedPartials, droppedRuns } = encodeMap(map, mapBytesMax)
  run.counters.checkpointsRequested += 1
  const requestedAt = run.now()
  run.revision = yield* store
    .save({
      shard,
      checkpoint: {
        position: Option.fromUndefinedOr(position),
        completionMap: bytes,
        epoch,
        owner: config.worker
      },
      expected: Option.some(run.revision)
    })
    .pipe(withDeadline(run))
  run.counters.checkpointsConfirmed += 1
  run.latencies.checkpoint.note(run.now() - requestedAt)
  run.checkpointed = position
  const isWhole = droppedPartials + droppedRuns === 0
  run.options.checkpointed({ after: position, completion: isWhole ? map : emptyMap(position) })
})

const withDeadline = (run: ShardRun) =>
  Effect.timeoutOrElse({
    duration: Duration.millis(run.options.config.callDeadlineMs),
    orElse: () =>
      Effect.fail(
        new CheckpointStoreError({
          code: "unavailable",
          shard: run.options.shard,
          message: "the checkpoint store did not answer in time"
        })
      )
  })

/** Lets the source forget what the checkpoint in the store has passed, where it has not heard. */
const acknowledge = Effect.fnUntraced(function* (run: ShardRun) {
  const { acknowledged, checkpointed, reader, tracker } = run
  if (reader === undefined || checkpointed === undefined || tracker.isFenced) return
  if (checkpointed === acknowledged) return
  const heard = yield* reader.acknowledge(checkpointed).pipe(
    Effect.timeoutOption(Duration.millis(run.options.config.callDeadlineMs)),
    Effect.map(Option.isSome),
    Effect.catch(({ message }) =>
      Effect.as(Effect.logDebug(`${checkpointed} was not acknowledged: ${message}`), false)
    )
  )
  if (heard) run.acknowledged = checkpointed
})

const resolve = Effect.fnUntraced(function* (
  run: ShardRun,
  store: CheckpointStore["Service"],
  conflict: CheckpointConflict
): Effect.fn.Return<void, CheckpointStoreError> {
  const { config, epoch, shard } = run.options
  const stored = Option.getOrUndefined(yield* store.load(shard).pipe(withDeadline(run)))
  if (stored !== undefined && isOwn(stored.checkpoint, config.worker, epoch)) {
    run.revision = stored.revision
    run.checkpointed = Option.getOrUndefined(stored.checkpoint.position)
    return
  }
  run.finish({ _tag: "Fenced", reason: `the checkpoint has another writer: ${conflict.message}` })
})

/** Whether a stored checkpoint was written by this worker under this epoch. */
export const isOwn = (checkpoint: Checkpoint, worker: string, epoch: number): boolean =>
  checkpoint.owner === worker && checkpoint.epoch === epoch
