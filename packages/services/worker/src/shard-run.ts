/**
 * The state of one shard from the moment it is opened until it ends: a tracker, the records in
 * flight, and what the loops around them share. The loops hold the effects; nothing here waits.
 *
 *     running ──halt──▶ halted          intake and retries stop; what is in flight may finish
 *        └──────────────┴──end──▶ ended: drained, fenced or failed
 */
import type { Exhausted, Ordinal, PartReport, Tracker } from "@holdfast/disposition"
import { type ShardReader, Signal } from "@holdfast/records"
import type { Clock } from "effect"
import type { OpenRecord } from "./aggregates.ts"
import type { WorkerConfig } from "./config.ts"
import { HeldRecords } from "./held-records.ts"
import { Latency } from "./latency.ts"
import { monotonicMs } from "./monotonic.ts"
import { PendingLetters } from "./pending-letters.ts"
import type { Resume } from "./pipeline.ts"
import { RetryQueue } from "./retry-queue.ts"

/** How a run ends. */
export type RunEnd =
  /** Everything was let go; `stuck` names what did not finish in time. */
  | { readonly _tag: "Drained"; readonly stuck: ReadonlyArray<string> }
  /** The shard belongs to somebody else: nothing may be written. */
  | {
      readonly _tag: "Fenced"
      readonly reason: string
      /** The epoch of the stored checkpoint, where that is above the lease's. */
      readonly aboveEpoch?: number
    }
  /** It is to be opened again later. */
  | { readonly _tag: "Failed"; readonly reason: string; readonly distrustsMap: boolean }

/** What a run counts beside its tracker. */
export interface RunCounters {
  checkpointsRequested: number
  checkpointsConfirmed: number
  checkpointsFailed: number
  retries: number
  sourceGaps: number
  sourceErrors: number
  /** Messages that were opened, and the user records that were in them. */
  aggregates: number
  userRecords: number
  /** Messages that look like aggregates and were taken whole, since they could not be opened. */
  damagedAggregates: number
  heartbeats: number
  slowHeartbeats: number
  flushes: number
  stalls: number
}

/** What does not change during a run. */
export interface RunOptions {
  readonly shard: string
  readonly stream: string
  readonly epoch: number
  readonly config: WorkerConfig
  readonly clock: Clock.Clock
  readonly tracker: Tracker
  /** The revision under which the checkpoint was last written. */
  readonly revision: bigint
  /** Opens aggregates; none where records stay whole. */
  readonly open: OpenRecord | undefined
  /** Tells the pipeline that a record, or one part of it, will not come again. */
  readonly laidAside: (ordinal: Ordinal, part?: number) => void
  /** What the pipeline says follows the last attempt; none: what the worker's policy says. */
  readonly exhausted: () => Exhausted | undefined
  /** Tells the pipeline of a checkpoint that was confirmed. */
  readonly checkpointed: (saved: Resume) => void
}

/** One shard while it is open; see the module comment. */
export class ShardRun {
  readonly options: RunOptions
  readonly tracker: Tracker
  readonly signal = new Signal()
  readonly retries = new RetryQueue()
  /** The records in flight, for further attempts; bounded by the tracker's limits. */
  readonly held = new HeldRecords()
  /** Records that wait to be laid aside, and whether there is a place to lay them. */
  readonly letters = new PendingLetters()
  hasDeadLetters = false
  readonly counters: RunCounters = { ...noCounters }
  /** From the request of a checkpoint to its confirmation; from a flush to what it waits for. */
  readonly latencies = { checkpoint: new Latency(), flush: new Latency() }
  revision: bigint
  /** The reader that is open now, to acknowledge to. */
  reader: ShardReader | undefined
  /** What the checkpoint in the store says. */
  checkpointed: bigint | undefined
  /** What of that the source has heard. */
  acknowledged: bigint | undefined
  /** The newest position that the source is known to hold. */
  newestInSource: bigint | undefined
  isIntakeStopped = false
  isEnded = false
  haltReason: string | undefined
  /** The pipeline waits for a checkpoint. */
  isCheckpointWanted = false
  /** Why an attempt failed last. */
  lastFailure: string | undefined
  stallReason: string | undefined
  end: RunEnd | undefined
  /** Rises with every record and every part that finishes: who waits for room waits for this. */
  settled = 0
  /** When something last moved. */
  progressAt: number

  constructor(options: RunOptions) {
    this.options = options
    this.tracker = options.tracker
    this.revision = options.revision
    this.checkpointed = options.tracker.lowWatermark
    this.acknowledged = this.checkpointed
    this.progressAt = this.now()
  }

  /** Milliseconds on the monotonic clock. */
  now(): number {
    return monotonicMs(this.options.clock)
  }

  /** Stops taking records in; what is in flight goes on. */
  stopIntake(): void {
    this.isIntakeStopped = true
    this.signal.notify()
  }

  /** Halts this shard alone: no intake, no retries; the first reason is the one that is kept. */
  halt(reason: string): void {
    this.haltReason ??= reason
    this.retries.clear()
    this.stopIntake()
  }

  /** Ends the run; the first end counts, but that being fenced overrides any other. */
  finish(end: RunEnd): void {
    if (this.end === undefined || end._tag === "Fenced") this.end = end
    if (end._tag === "Fenced") this.tracker.fence()
    this.stopIntake()
  }

  /** Ends the run to be opened again later. */
  fail(reason: string): void {
    this.finish({ _tag: "Failed", reason, distrustsMap: false })
  }

  /** Forgets a record that is finished. */
  forget(ordinal: Ordinal): void {
    this.settled += 1
    this.held.release(ordinal)
    this.retries.remove(ordinal)
    this.letters.forget(ordinal)
  }

  /** Tells the pipeline that a record, or one part of it, will not come again. */
  laidAside(ordinal: Ordinal, part: PartReport | undefined): void {
    this.options.laidAside(ordinal, part?.index)
  }

  /** Lets the next checkpoint be written without waiting for its interval. */
  requestCheckpoint(): void {
    this.isCheckpointWanted = true
    this.signal.notify()
  }

  /** Notes that something moved, and wakes who waits for it. */
  progress(): void {
    this.progressAt = this.now()
    this.stallReason = undefined
    this.signal.notify()
  }

  /** Whether nothing is in flight that can still finish by itself. */
  get isSettled(): boolean {
    const { failing, records } = this.tracker.standing
    return records === 0 || (this.haltReason !== undefined && records === failing)
  }

  /** The oldest unfinished records in words. */
  stuck(limit: number): ReadonlyArray<string> {
    const now = this.now()
    return this.tracker.unfinished(limit).map((record) => {
      const { failedAttempts, outages, parts, position, seenAt } = record
      const missing =
        parts === undefined ? "" : `, ${parts.missing} of ${parts.total} parts missing`
      const failed = failedAttempts === 0 ? "" : `, ${failedAttempts} attempts failed`
      const met = outages === 0 ? "" : `, ${outages} attempts met an outage`
      return `position ${position}, ${Math.round(now - seenAt)} ms old${missing}${failed}${met}`
    })
  }
}

const noCounters: RunCounters = {
  checkpointsRequested: 0,
  checkpointsConfirmed: 0,
  checkpointsFailed: 0,
  retries: 0,
  sourceGaps: 0,
  sourceErrors: 0,
  aggregates: 0,
  userRecords: 0,
  damagedAggregates: 0,
  heartbeats: 0,
  slowHeartbeats: 0,
  flushes: 0,
  stalls: 0
}
