/** Milliseconds on the monotonic clock; only ever subtracted from one another. */
import type { Clock } from "effect"

/** Reads the clock, with fractions of a millisecond. */
export const monotonicMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000
