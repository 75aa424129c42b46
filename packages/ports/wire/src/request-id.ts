/** Request ids: what makes a retry the same request. */
import { Effect, Random } from "effect"

/** A fresh request id of 104 random bits, from Effect's Random so that a seed reproduces it. */
export const makeRequestId: Effect.Effect<string> = Effect.gen(function* () {
  const high = yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)
  const low = yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)
  return high.toString(36).padStart(11, "0") + low.toString(36).padStart(11, "0")
})
