import { assert, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { makeServiceClock } from "./service-clock.ts"

it.effect("the time of the service goes on evenly while the wall clock jumps", () =>
  Effect.gen(function* () {
    let [wallMillis, nanos] = [1_700_000_000_000, 0n]
    const wallNanos = () => BigInt(wallMillis) * 1_000_000n
    const clock: Clock.Clock = {
      currentTimeMillisUnsafe: () => wallMillis,
      currentTimeMillis: Effect.sync(() => wallMillis),
      currentTimeNanosUnsafe: wallNanos,
      currentTimeNanos: Effect.sync(wallNanos),
      monotonicTimeNanosUnsafe: () => nanos,
      monotonicTimeNanos: Effect.sync(() => nanos),
      sleep: () => Effect.never
    }
    const seconds = yield* Effect.provideService(makeServiceClock, Clock.Clock, clock)
    const told = Effect.provideService(seconds, Clock.Clock, clock)
    assert.strictEqual(yield* told, 1_700_000_000)
    for (const jump of [365 * 86_400_000, -2 * 365 * 86_400_000]) {
      wallMillis += jump
      nanos += 1_500_000_000n
    }
    assert.strictEqual(yield* told, 1_700_000_003)
  })
)
