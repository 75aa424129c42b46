/**
 * The full flush: stops the intake, lets the pipeline seal everything, waits for the tracker's own
 * signal, and checkpoints what is finished. On the deadline it names what is stuck and goes on:
 * the finished prefix is checkpointed all the same, and the rest comes again.
 */
import { Duration, Effect, Fiber, Option } from "effect"
import { endBy } from "./intake.ts"
import type { ShardPipeline } from "./pipeline.ts"
import type { ShardRun } from "./shard-run.ts"

const stuckRecordsNamed = 10

/** Drains a run and ends it. */
export const drain = Effect.fnUntraced(function* (options: {
  readonly run: ShardRun
  readonly pipeline: ShardPipeline
  readonly intake: Fiber.Fiber<void>
  readonly save: Effect.Effect<void>
}) {
  const { intake, pipeline, run, save } = options
  const deadline = Duration.millis(run.options.config.drainDeadlineMs)
  const begunAt = run.now()
  run.stopIntake()
  const flush = Effect.catch(pipeline.flush({ mode: "full", deadline }), (error) =>
    Effect.sync(() => endBy(run, error))
  )
  const settled = Effect.gen(function* () {
    // An offer may be waiting for the room that a flush makes; what it then offers needs another.
    yield* flush
    yield* Fiber.await(intake)
    yield* flush
    yield* run.signal.waitUntil(() => run.isSettled || run.end !== undefined)
  })
  const answer = yield* Effect.timeoutOption(settled, deadline)
  run.latencies.flush.note(run.now() - begunAt)
  if (run.end !== undefined) return
  const stuck = Option.isNone(answer) ? run.stuck(stuckRecordsNamed) : []
  if (stuck.length > 0) {
    yield* Effect.logWarning(`${run.options.shard} did not drain in time: ${stuck.join("; ")}`)
  }
  yield* save
  // A write whose answer was lost is only recognised by the first try; the second writes.
  yield* save
  run.finish({ _tag: "Drained", stuck })
})
