/**
 * A stage: a pipeline made of a function that takes one item at a time.
 *
 *     record ──extract──▶ items ──lanes──▶ process, `concurrency` at a time ──▶ dispositions
 *
 * 1. A record's items finish apart, each with its index; a record without items is finished.
 * 2. Under `by-key` and `by-shard`, items are worked on in order, and an item that failed holds its
 *    own lane until it went through or was laid aside; nothing else waits for it.
 * 3. `process` may return a value, a promise or an Effect. What it throws, rejects or fails with is
 *    a failed attempt; so is one that takes longer than its deadline. A `StageFailure` says more.
 * 4. Nothing is a success but a normal end: an interrupted item has no disposition and comes again.
 * 5. The user records of an aggregate are records like others, in the order of the aggregate.
 * 6. At most `backlog` items are queued; an offer waits for room.
 */
import type { PartReport } from "@holdfast/disposition"
import type { SourceRecord } from "@holdfast/records"
import { Data, Duration, Effect } from "effect"
import type { Heartbeat } from "../pipeline.ts"

/** One item, with where it comes from. */
export interface StageItem<A> {
  readonly shard: string
  readonly record: SourceRecord
  readonly item: A
  /** Which of the record's items it is. */
  readonly index: number
  readonly total: number
  /** Which user record of an aggregate `record` is. */
  readonly part?: PartReport | undefined
  /** 1 at first. */
  readonly attempt: number
}

/**
 * A failure whose kind is known, to throw or fail with. `fatal`: trying again cannot help. `outage`:
 * what the function needs is away, and the item is tried again for as long as that lasts.
 */
export class StageFailure extends Data.TaggedError("StageFailure")<{
  readonly kind: "fatal" | "outage"
  readonly message: string
}> {}

/** What a function of a stage may return. */
export type StageAnswer = void | Promise<void> | Effect.Effect<void, unknown>

/** In which order items are worked on. */
export type StageOrdering<A> =
  | { readonly _tag: "Unordered" }
  | { readonly _tag: "ByShard" }
  | { readonly _tag: "ByKey"; readonly keyOf: (item: A, record: SourceRecord) => string }

/** How a stage works. */
export interface StageOptions<A> {
  /** The items of a record; it is split where this is given. */
  readonly extract: (record: SourceRecord) => ReadonlyArray<A>
  readonly process: (item: StageItem<A>) => StageAnswer
  readonly ordering: StageOrdering<A>
  /** Items worked on at a time, by shard. */
  readonly concurrency: number
  /** Items queued, by shard. */
  readonly backlog: number
  /** How long one item may take. */
  readonly deadline: Duration.Input
  /** Beats of each shard, for functions that gather items and must let go of them in time. */
  readonly heartbeat?: (shard: string, beat: Heartbeat) => StageAnswer
  /** A flush: let go of what was gathered; `full` before a shutdown or a handover. */
  readonly flush?: (shard: string, mode: "partial" | "full") => StageAnswer
}

/** Settings that suit a function that does some work of its own. */
export const defaultStage = {
  ordering: { _tag: "Unordered" },
  concurrency: 16,
  backlog: 4_096,
  deadline: Duration.seconds(60)
} as const

/** Runs whatever a function of a stage returned; what it throws is a failure too. */
export const runAnswer = (answer: () => StageAnswer): Effect.Effect<void, unknown> =>
  Effect.suspend(() => {
    let returned: StageAnswer
    try {
      returned = answer()
    } catch (error) {
      return Effect.fail(error)
    }
    if (returned === undefined) return Effect.void
    return Effect.isEffect(returned)
      ? returned
      : Effect.tryPromise({ try: () => returned, catch: (error) => error })
  })
