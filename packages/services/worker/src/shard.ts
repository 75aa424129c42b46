/**
 * Supervises one shard under one lease epoch: opens it, runs its loops, and opens it again after
 * what may pass, until it is drained or fenced.
 *
 *     opening ──▶ running ──▶ draining ──▶ drained
 *        ▲ └──────┬──┴── fence ─────────▶ fenced (at once; nothing is written after it)
 *        └─ failed, after a delay
 *
 * A defect of one loop fails its run alone; a halted shard stays, and keeps its lease, so that its
 * siblings go on and nobody else runs into the same record.
 */
import { type CheckpointStore, type RecordSource, Signal } from "@holdfast/records"
import { Cause, Duration, Effect, Exit, type Scope } from "effect"
import { makeSave } from "./checkpoints.ts"
import type { WorkerConfig } from "./config.ts"
import { deadLetters } from "./dead-letters.ts"
import { drain } from "./drain.ts"
import { intake } from "./intake.ts"
import { checkpoints, flushes, haltNotice, heartbeats, retries, stallAlarm } from "./loops.ts"
import { openShard, type OpeningRefusal } from "./opening.ts"
import type { Pipeline } from "./pipeline.ts"
import type { RunEnd, ShardRun } from "./shard-run.ts"

/** What a shard needs of the world. */
export type ShardPorts = CheckpointStore | Pipeline | RecordSource

/** Which shard to run, and how. */
export interface ShardOptions {
  readonly shard: string
  readonly stream: string
  readonly epoch: number
  readonly config: WorkerConfig
}

/** A shard as whoever started it steers and sees it. */
export class ShardControl {
  readonly options: ShardOptions
  readonly signal = new Signal()
  isDraining = false
  fenceReason: string | undefined
  /** Why the shard could not be opened and must wait for a person. */
  refusal: string | undefined
  /** Why the last run failed, while the next one is not open yet. */
  lastFailure: string | undefined
  /** The run that is open, or the last one. */
  run: ShardRun | undefined

  constructor(options: ShardOptions) {
    this.options = options
  }

  /** Asks for a full flush and the end. */
  requestDrain(): void {
    this.isDraining = true
    this.wake()
  }

  /** Ends everything at once: the shard belongs to somebody else. */
  fence(reason: string): void {
    this.fenceReason ??= reason
    this.run?.finish({ _tag: "Fenced", reason })
    this.wake()
  }

  private wake(): void {
    this.signal.notify()
    this.run?.signal.notify()
  }
}

/** Runs a shard to its end; the end is never a failure. */
export const superviseShard = Effect.fnUntraced(function* (
  control: ShardControl
): Effect.fn.Return<RunEnd, never, ShardPorts> {
  const { config, shard } = control.options
  const isWanted = (): boolean => control.fenceReason === undefined && !control.isDraining
  let delayMs = config.retryFirstMs
  let distrustsMap = false
  for (;;) {
    if (control.fenceReason !== undefined) return fenced(control.fenceReason)
    if (control.isDraining) return { _tag: "Drained", stuck: [] }
    const before = control.run?.checkpointed
    const end: RunEnd = yield* runGuarded(control, distrustsMap)
    if (end._tag !== "Failed") return end
    distrustsMap = distrustsMap || end.distrustsMap
    control.lastFailure = end.reason
    yield* Effect.logWarning(`${shard} is opened again in ${delayMs} ms: ${end.reason}`)
    if (control.run?.checkpointed !== before) delayMs = config.retryFirstMs
    yield* Effect.raceFirst(
      Effect.sleep(Duration.millis(delayMs)),
      control.signal.waitUntil(() => !isWanted())
    )
    delayMs = Math.min(delayMs * 2, config.retryHighestMs)
  }
})

const fenced = (reason: string): RunEnd => ({ _tag: "Fenced", reason })

const failed = (reason: string): RunEnd => ({ _tag: "Failed", reason, distrustsMap: false })

/** One run, given up as soon as the shard is fenced; a defect is a failed run. */
const runGuarded = (
  control: ShardControl,
  distrustsMap: boolean
): Effect.Effect<RunEnd, never, ShardPorts> =>
  Effect.raceFirst(
    Effect.scoped(runOnce(control, distrustsMap)),
    Effect.as(
      control.signal.waitUntil(() => control.fenceReason !== undefined),
      fenced("the lease is lost")
    )
  ).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.succeed(failed(`a defect: ${String(Cause.squash(cause))}`))
    )
  )

const runOnce = Effect.fnUntraced(function* (
  control: ShardControl,
  distrustsMap: boolean
): Effect.fn.Return<RunEnd, never, ShardPorts | Scope.Scope> {
  const opened = yield* openShard({ ...control.options, distrustsMap }).pipe(
    Effect.catch((refusal) => Effect.succeed(refusal)),
    // An opening may wait for services that are away; nothing was read yet that could be let go.
    Effect.raceFirst(
      Effect.as(
        control.signal.waitUntil(() => control.isDraining),
        undefined
      )
    )
  )
  if (opened === undefined) return { _tag: "Drained", stuck: [] }
  if ("_tag" in opened) return yield* refused(control, opened)
  const { pipeline, run } = opened
  control.run = run
  control.lastFailure = undefined
  yield* Effect.addFinalizer(() => Effect.sync(() => run.tracker.fence()))
  const save = yield* makeSave(run)
  const reading = yield* Effect.forkScoped(surviving(run, "intake", intake(run, pipeline)))
  const loops = {
    heartbeats: heartbeats(run, pipeline),
    flushes: flushes(run, pipeline),
    checkpoints: checkpoints(run, save),
    retries: retries(run, pipeline),
    "dead letters": deadLetters(run),
    "stall alarm": stallAlarm(run),
    "halt notice": haltNotice(run)
  }
  for (const [name, loop] of Object.entries(loops)) {
    yield* Effect.forkScoped(surviving(run, name, loop))
  }
  yield* run.signal.waitUntil(() => run.end !== undefined || control.isDraining)
  if (run.end === undefined) yield* drain({ run, pipeline, intake: reading, save })
  return run.end ?? failed("the drain ended without an end")
})

const refused = Effect.fnUntraced(function* (
  control: ShardControl,
  refusal: OpeningRefusal
): Effect.fn.Return<RunEnd> {
  switch (refusal._tag) {
    case "Fenced":
      return refusal
    case "Unavailable":
      return failed(refusal.reason)
    case "Invalid":
      control.refusal = refusal.reason
      yield* Effect.logError(`${control.options.shard} is halted: ${refusal.reason}`)
      yield* control.signal.waitUntil(() => control.isDraining)
      return { _tag: "Drained", stuck: [] }
  }
})

/** A loop whose defect fails the run instead of vanishing. */
const surviving = <R>(
  run: ShardRun,
  name: string,
  loop: Effect.Effect<void, never, R>
): Effect.Effect<void, never, R> =>
  Effect.onExit(loop, (exit) =>
    Effect.sync(() => {
      if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return
      run.fail(`a defect of the ${name}: ${String(Cause.squash(exit.cause))}`)
    })
  )
