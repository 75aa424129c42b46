/** The metadata service's time as a chunk server knows it. */
import { Clock, Effect } from "effect"

/** What capabilities are checked by. */
export interface ServiceTime {
  /** Seconds since 1970: by the last answer that was heard and the monotonic clock since. */
  readonly seconds: Effect.Effect<number>
  /** Takes the seconds that the service said. */
  readonly hear: (seconds: number) => Effect.Effect<void>
}

/** The own wall clock's time until the service was heard. */
export const makeServiceTime = (): ServiceTime => {
  let heard: { readonly seconds: number; readonly atNanos: bigint } | undefined
  return {
    seconds: Effect.gen(function* () {
      if (heard === undefined) return Math.floor((yield* Clock.currentTimeMillis) / 1_000)
      const sinceNanos = (yield* Clock.monotonicTimeNanos) - heard.atNanos
      return heard.seconds + Math.floor(Number(sinceNanos) / 1_000_000_000)
    }),
    hear: (seconds) =>
      Effect.map(Clock.monotonicTimeNanos, (atNanos) => {
        heard = { seconds, atNanos }
      })
  }
}
