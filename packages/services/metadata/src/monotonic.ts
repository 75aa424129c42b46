/** Ages and deadlines are counted by the monotonic clock, in milliseconds. */
import { Clock, Effect } from "effect"

/** The monotonic clock in milliseconds. */
export const monotonicMillis: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos / 1_000_000n)
)
