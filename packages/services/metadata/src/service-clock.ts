/** The time by which capabilities expire, in the whole cluster. */
import { Clock, Effect } from "effect"

/**
 * Seconds since 1970 by the wall clock at the start and the monotonic clock since: a wall clock
 * that jumps takes no right away. Chunk servers hear it with every heartbeat and check by it, so
 * that their own wall clocks do not matter either.
 */
export const makeServiceClock: Effect.Effect<Effect.Effect<number>> = Effect.gen(function* () {
  const startedMillis = yield* Clock.currentTimeMillis
  const startedNanos = yield* Clock.monotonicTimeNanos
  return Effect.map(Clock.monotonicTimeNanos, (now) =>
    Math.floor((startedMillis + Number(now - startedNanos) / 1_000_000) / 1_000)
  )
})
