/**
 * The pipeline: what a worker hands records to, and hears dispositions from.
 *
 *     worker ──offer, heartbeat, flush──▶ shard pipeline ──▶ segments, chunks, catalogue
 *        ▲                                     │
 *        └────────────── report ◀──────────────┘
 *
 * What the worker promises a pipeline:
 * 1. One shard is open at most once in a worker, under the epoch of its lease. A later `open` of
 *    the same shard comes after the earlier scope has closed, with the same epoch or a higher one.
 * 2. Records are offered in rising order of ordinal and position, each once; only a record that was
 *    reported as failed is offered again, later, with its attempt counted up and perhaps behind
 *    newer ones. The parts of a record that are offered together stand together in one batch.
 * 3. Heartbeats and flushes never wait behind an `offer`; they may run while one is suspended.
 * 4. Closing the scope ends the shard: what has not started is to be abandoned, nothing more is to
 *    be written under this epoch, and reports after that change nothing.
 *
 * What a pipeline promises the worker:
 * 5. Every record that was offered gets its disposition in the end: done, failed, or in parts. What
 *    is reported as done is durable: the checkpoint may pass it at once.
 * 6. `offer` suspends while the pipeline has no room, and may be interrupted; then it has taken
 *    nothing of the batch.
 * 7. An idle stream is no reason to wait: a heartbeat lets whatever is old enough go on.
 */
import type {
  CompletionMap,
  Exhausted,
  Ordinal,
  PartReport,
  PartSetView
} from "@holdfast/disposition"
import type { SourceRecord } from "@holdfast/records"
import type { Duration, Effect, Scope } from "effect"
import { Context, Schema } from "effect"
import type { Aggregation } from "./config.ts"

/** A record as it is handed on. */
export interface OfferedRecord {
  /** Names the record in every report. */
  readonly ordinal: Ordinal
  /** With a part: the user record, at the position of the aggregate that it came in. */
  readonly record: SourceRecord
  /**
   * Which user record of an aggregate it is. Each is offered by itself, in order, and reported by
   * itself: as `PartsDone`, or as `Failed` with this part.
   */
  readonly part?: PartReport
  /** 1 at first, and one more after each failure that the error policy lets be tried again. */
  readonly attempt: number
  /** Parts that are finished: they need no disposition. */
  readonly finishedParts?: PartSetView
  /** Where it is offered again: the parts that failed; the others are with the pipeline still. */
  readonly onlyParts?: ReadonlyArray<number>
}

/**
 * What became of records.
 *
 * - `Done`: whole records, any number of them.
 * - `Split`: the record has `total` parts, each with its own disposition; 0 finishes it.
 * - `PartsDone`: parts of a record; the first report fixes the total where no `Split` did.
 * - `Failed`: an attempt at a whole record, or at one part of it, failed; the pipeline has
 *   forgotten it and gets it again if the error policy says so. `fatal` when trying again cannot
 *   help; `outage` when what the pipeline needs is away, which says nothing about the record: it is
 *   tried again for as long as that lasts.
 */
export type Disposition =
  | { readonly _tag: "Done"; readonly ordinals: ReadonlyArray<Ordinal> }
  | { readonly _tag: "Split"; readonly ordinal: Ordinal; readonly total: number }
  | {
      readonly _tag: "PartsDone"
      readonly ordinal: Ordinal
      readonly total: number
      readonly indexes: ReadonlyArray<number>
    }
  | {
      readonly _tag: "Failed"
      readonly ordinal: Ordinal
      readonly part?: PartReport
      readonly reason: string
      readonly fatal?: boolean
      readonly outage?: boolean
    }

/** Positions of which every record that exists is durable already, both ends included. */
export interface FinishedStretch {
  readonly from: bigint
  readonly to: bigint
}

/** Where a shard goes on. */
export interface Resume {
  /** Everything up to here is finished; none when nothing is. */
  readonly after: bigint | undefined
  /** What is finished above it; ask it with `statusOf`. */
  readonly completion: CompletionMap
}

/** How a shard is opened. */
export interface OpenShard {
  readonly shard: string
  /** The stream (or file) that the shard belongs to. */
  readonly stream: string
  /** The lease epoch: fence everything that is written with it. */
  readonly epoch: number
  readonly resume: Resume
  /** Takes dispositions at once; callable from anywhere, never suspends, never throws. */
  readonly report: (dispositions: ReadonlyArray<Disposition>) => void
  /** Asks for a checkpoint soon instead of at the next interval; callable as `report` is. */
  readonly requestCheckpoint: () => void
}

/** Sent at intervals, on an idle stream too. */
export interface Heartbeat {
  /** How many were sent on this shard, this one included. */
  readonly count: number
  /** How many records were admitted so far. */
  readonly admitted: number
}

/** How to flush; the worker itself waits for the dispositions, no longer than the deadline. */
export interface FlushOptions {
  /** `partial`: let go what is ready anyhow. `full`: seal everything that was offered, now. */
  readonly mode: "partial" | "full"
  readonly deadline: Duration.Input
}

/**
 * A shard's pipeline cannot go on. `unavailable`: what it needs is away; the worker opens the shard
 * again later. `fenced`: a newer epoch writes; the worker gives the shard up. `invalid`: it cannot
 * work as configured; the shard halts.
 */
export class PipelineError extends Schema.TaggedError<PipelineError>()("PipelineError", {
  code: Schema.Literals(["unavailable", "fenced", "invalid"]),
  message: Schema.String
}) {}

/** The pipeline of one shard under one epoch. */
export interface ShardPipeline {
  /** What is durable above `resume.after` by the pipeline's own knowledge: not offered again. */
  readonly finished: ReadonlyArray<FinishedStretch>
  /**
   * What follows the last attempt at a record of this shard, where that is not the worker's own to
   * say; asked at each decision.
   */
  readonly exhausted?: () => Exhausted
  /** Whether it can be offered parts of records; without it no aggregate may be opened. */
  readonly takesParts?: boolean
  /** Which aggregates of this shard are opened; none: those that the worker's settings say. */
  readonly aggregation?: Aggregation
  /** Takes a batch, whole; suspends while there is no room. */
  readonly offer: (batch: ReadonlyArray<OfferedRecord>) => Effect.Effect<void, PipelineError>
  /** Lets time-bound work go on; must return soon. */
  readonly heartbeat: (beat: Heartbeat) => Effect.Effect<void, PipelineError>
  /** Starts a flush; it may return before the dispositions are in. */
  readonly flush: (options: FlushOptions) => Effect.Effect<void, PipelineError>
  /**
   * Hears that a record, or the one part of it that is named, which it reported as failed was laid
   * aside and will not be offered again. Needed only where something else waits for it; must return
   * at once.
   */
  readonly laidAside?: (ordinal: Ordinal, part?: number) => void
  /**
   * Hears of each checkpoint that the store has confirmed: what it says is finished never comes
   * again. Must return at once.
   */
  readonly checkpointed?: (saved: Resume) => void
}

/** Where a worker's records go. */
export class Pipeline extends Context.Service<
  Pipeline,
  {
    /** Opens a shard; closing the scope closes it. */
    readonly open: (options: OpenShard) => Effect.Effect<ShardPipeline, PipelineError, Scope.Scope>
  }
>()("@holdfast/service-worker/Pipeline") {}
