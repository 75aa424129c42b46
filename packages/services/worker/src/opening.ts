/**
 * Opens a shard: takes its checkpoint over under the own epoch, opens the pipeline, makes the run.
 *
 * 1. The checkpoint is written under the new epoch before anything is read, so that whoever wrote
 *    it before has lost the compare-and-set from that moment on.
 * 2. A checkpoint of a higher epoch means that the lease is not ours any more.
 * 3. A completion map that cannot be used is ignored with a warning, or halts the shard: as
 *    configured. It never moves the position.
 */
import {
  type CompletionMap,
  decodeMap,
  emptyMap,
  encodeMap,
  type Ordinal,
  Tracker,
  withFinished
} from "@holdfast/disposition"
import { type Checkpoint, CheckpointStore, type StoredCheckpoint } from "@holdfast/records"
import { Clock, Duration, Effect, Option, Result } from "effect"
import { recordOpener } from "./aggregates.ts"
import { isOwn } from "./checkpoints.ts"
import type { WorkerConfig } from "./config.ts"
import { makeReport } from "./dispositions.ts"
import { type OpenShard, Pipeline, type ShardPipeline } from "./pipeline.ts"
import { ShardRun } from "./shard-run.ts"

/** Which shard to open, and how. */
export interface Opening {
  readonly shard: string
  readonly stream: string
  readonly epoch: number
  readonly config: WorkerConfig
  /** Do not use the stored map: the source contradicted it. */
  readonly distrustsMap: boolean
}

/** Why a shard was not opened. */
export type OpeningRefusal =
  | { readonly _tag: "Fenced"; readonly reason: string; readonly aboveEpoch?: number }
  | { readonly _tag: "Unavailable"; readonly reason: string }
  | { readonly _tag: "Invalid"; readonly reason: string }

/** An open shard. */
export interface OpenedShard {
  readonly run: ShardRun
  readonly pipeline: ShardPipeline
}

/** What a pipeline speaks to; before its shard is open there is nothing that could listen. */
interface Listener {
  report: OpenShard["report"]
  requestCheckpoint: OpenShard["requestCheckpoint"]
}

/** Opens a shard in the current scope. */
export const openShard = Effect.fnUntraced(function* (opening: Opening) {
  const { config, epoch, shard, stream } = opening
  const { position, revision, stored } = yield* takeCheckpoint(opening)
  const pipelines = yield* Pipeline
  const clock = yield* Clock.Clock
  const listener: Listener = { report: () => undefined, requestCheckpoint: () => undefined }
  const pipeline = yield* pipelines
    .open({
      shard,
      stream,
      epoch,
      resume: { after: position, completion: stored },
      report: (dispositions) => listener.report(dispositions),
      requestCheckpoint: () => listener.requestCheckpoint()
    })
    .pipe(Effect.catch(({ code, message }) => refuse(pipelineRefusal(code), message)))
  const { aggregation = config.aggregation } = pipeline
  if (aggregation !== "none" && pipeline.takesParts !== true) {
    const reason = `this pipeline takes whole records alone: aggregation must be "none" for it`
    return yield* refuse("Invalid", reason)
  }
  const restored = withFinished(stored, pipeline.finished)
  const tracker = new Tracker({ limits: config.limits, epoch, after: position, restored })
  const laidAside = (ordinal: Ordinal, part?: number): void => pipeline.laidAside?.(ordinal, part)
  const run = new ShardRun({
    shard,
    stream,
    epoch,
    config,
    clock,
    tracker,
    revision,
    open: recordOpener({ aggregation, limits: config.limits }),
    laidAside,
    exhausted: () => pipeline.exhausted?.(),
    checkpointed: (saved) => pipeline.checkpointed?.(saved)
  })
  listener.report = makeReport(run)
  listener.requestCheckpoint = () => run.requestCheckpoint()
  const opened: OpenedShard = { run, pipeline }
  return opened
})

const refuse = (
  _tag: OpeningRefusal["_tag"],
  reason: string
): Effect.Effect<never, OpeningRefusal> => Effect.fail({ _tag, reason })

const pipelineRefusal = (code: "unavailable" | "fenced" | "invalid"): OpeningRefusal["_tag"] => {
  switch (code) {
    case "unavailable":
      return "Unavailable"
    case "fenced":
      return "Fenced"
    case "invalid":
      return "Invalid"
  }
}

/** Loads the checkpoint and writes it back as this worker's. */
const takeCheckpoint = Effect.fnUntraced(function* (opening: Opening) {
  const { config, epoch, shard } = opening
  const store = yield* CheckpointStore
  const deadline = Duration.millis(config.callDeadlineMs)
  const loaded = yield* store.load(shard).pipe(
    Effect.timeoutOrElse({
      duration: deadline,
      orElse: () => refuse("Unavailable", "the checkpoint store did not answer in time")
    }),
    Effect.catchTag("CheckpointStoreError", ({ code, message }) =>
      refuse(code === "corrupt" ? "Invalid" : "Unavailable", message)
    )
  )
  const before = Option.getOrUndefined(loaded)
  const position = Option.getOrUndefined(
    Option.flatMap(loaded, ({ checkpoint }) => checkpoint.position)
  )
  if (before !== undefined && isForeign(before.checkpoint, config.worker, epoch)) {
    const { checkpoint } = before
    const found = `epoch ${checkpoint.epoch} of ${checkpoint.owner}`
    const refusal: OpeningRefusal = {
      _tag: "Fenced",
      reason: `the checkpoint has ${found}, the lease epoch ${epoch}`,
      aboveEpoch: checkpoint.epoch
    }
    return yield* Effect.fail(refusal)
  }
  const stored = yield* readMap(opening, before, position)
  const revision = yield* store
    .save({
      shard,
      checkpoint: {
        position: Option.fromUndefinedOr(position),
        completionMap: encodeMap(stored, config.mapBytesMax).bytes,
        epoch,
        owner: config.worker
      },
      expected: Option.map(loaded, (found) => found.revision)
    })
    .pipe(
      Effect.timeoutOrElse({
        duration: deadline,
        orElse: () => refuse("Unavailable", "the checkpoint store did not answer in time")
      }),
      // Whoever wrote in between has lost it next time, or shows a higher epoch then.
      Effect.catchTag("CheckpointConflict", ({ message }) => refuse("Unavailable", message)),
      Effect.catchTag("CheckpointStoreError", ({ message }) => refuse("Unavailable", message))
    )
  return { position, revision, stored }
})

const isForeign = (checkpoint: Checkpoint, worker: string, epoch: number): boolean =>
  checkpoint.epoch > epoch || (checkpoint.epoch === epoch && !isOwn(checkpoint, worker, epoch))

const readMap = Effect.fnUntraced(function* (
  { config, distrustsMap, shard }: Opening,
  before: StoredCheckpoint | undefined,
  base: bigint | undefined
): Effect.fn.Return<CompletionMap, OpeningRefusal> {
  if (before === undefined || distrustsMap) return emptyMap(base)
  const decoded = decodeMap(before.checkpoint.completionMap, { base, newest: undefined })
  if (Result.isSuccess(decoded)) return decoded.success
  const { message } = decoded.failure
  if (config.damagedMap === "halt") return yield* refuse("Invalid", message)
  yield* Effect.logWarning(`${shard}: ${message} Its records are done again.`)
  return emptyMap(base)
})
