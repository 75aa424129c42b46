/**
 * The error policy: what to do with an item of which an attempt failed. Pure: the caller waits.
 *
 *     failed attempt ──▶ attempts left? ──yes──▶ retry after the schedule's delay
 *                              └──────no──▶ halt this shard | skip | dead-letter
 *
 * 1. A protocol fault of the reporter is never retried: the same code would report it again.
 * 2. An outage says nothing about the item: it is retried for as long as it lasts, and exhausts
 *    nothing.
 * 3. The decision depends on its arguments alone, so it is the same after a restart.
 * 4. Halting concerns the shard of the item and no other.
 */
import { Schema } from "effect"

const Milliseconds = Schema.Finite.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(0)))

/**
 * When to try again: `initialMs * factor ^ (attempt - 1)`, at most `maximumMs`, `retries` times.
 */
export const RetrySchedule = Schema.Struct({
  retries: Schema.Natural,
  initialMs: Milliseconds,
  factor: Schema.Finite.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(1))),
  maximumMs: Milliseconds
})
/** When to try again. */
export type RetrySchedule = typeof RetrySchedule.Type

/** What follows the last attempt. */
export const Exhausted = Schema.Literals(["halt", "skip", "dead-letter"])
/** What follows the last attempt. */
export type Exhausted = typeof Exhausted.Type

/** The policy of a shard, as configured. */
export const ErrorPolicy = Schema.TaggedUnion({
  /** The first failure halts the shard. */
  HaltAtOnce: {},
  /** Try again by a schedule; then do what `exhausted` says. */
  Retry: { schedule: RetrySchedule, exhausted: Exhausted }
})
/** The policy of a shard, as configured. */
export type ErrorPolicy = typeof ErrorPolicy.Type

/** Five retries within about half a minute, then the shard halts. */
export const defaultErrorPolicy: ErrorPolicy = ErrorPolicy.cases.Retry.make({
  schedule: { retries: 5, initialMs: 500, factor: 2, maximumMs: 10_000 },
  exhausted: "halt"
})

/** A failure to decide on. */
export interface Failure {
  /** The attempt that failed, from 1. */
  readonly attempt: number
  /**
   * `item`: the work failed. `outage`: what the work needs is away. `protocol`: the report itself
   * was wrong. `fatal`: no retry can help.
   */
  readonly kind: "item" | "outage" | "protocol" | "fatal"
}

/** What to do now. */
export type Decision =
  | { readonly _tag: "Retry"; readonly delayMs: number }
  | { readonly _tag: "Halt" }
  | { readonly _tag: "Skip" }
  | { readonly _tag: "DeadLetter" }

/** The delay before the attempt that follows `attempt`. */
export const retryDelayMs = (schedule: RetrySchedule, attempt: number): number =>
  Math.min(schedule.maximumMs, schedule.initialMs * schedule.factor ** Math.max(0, attempt - 1))

/** Decides on one failed attempt. */
export const decide = (policy: ErrorPolicy, failure: Failure): Decision =>
  ErrorPolicy.match(policy, {
    HaltAtOnce: (): Decision => ({ _tag: "Halt" }),
    Retry: ({ exhausted, schedule }): Decision =>
      mayRetry(failure, schedule)
        ? { _tag: "Retry", delayMs: retryDelayMs(schedule, failure.attempt) }
        : exhaustedDecision(exhausted)
  })

const mayRetry = ({ attempt, kind }: Failure, { retries }: RetrySchedule): boolean => {
  switch (kind) {
    case "item":
      return attempt <= retries
    case "outage":
      return true
    case "protocol":
    case "fatal":
      return false
  }
}

const exhaustedDecision = (exhausted: Exhausted): Decision => {
  switch (exhausted) {
    case "halt":
      return { _tag: "Halt" }
    case "skip":
      return { _tag: "Skip" }
    case "dead-letter":
      return { _tag: "DeadLetter" }
  }
}
