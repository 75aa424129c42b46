/**
 * Waits for a condition that Node events change, with a deadline.
 *
 * 1. The condition is looked at before waiting and at each ring: no event is missed.
 * 2. A wait ends by its condition, its deadline or interruption, and leaves no timer behind.
 */
import { Effect } from "effect"

/** Rung by event listeners, waited on by effects. */
export interface Bell {
  readonly ring: () => void
  /** Waits until `check` answers an effect, at most `waitMs`; then fails with `late()`. */
  readonly until: <A, E>(
    check: () => Effect.Effect<A, E> | undefined,
    wait: { readonly waitMs: number; readonly late: () => E }
  ) => Effect.Effect<A, E>
}

/** Makes a bell. */
export const makeBell = (): Bell => {
  const listeners = new Set<() => void>()
  const until: Bell["until"] = (check, wait) =>
    Effect.suspend(() => {
      const now = check()
      if (now !== undefined) return now
      return Effect.callback((resume) => {
        const stop = () => {
          clearTimeout(timer)
          listeners.delete(listener)
        }
        const listener = () => {
          const next = check()
          if (next === undefined) return
          stop()
          resume(next)
        }
        const timer = setTimeout(() => {
          stop()
          resume(Effect.fail(wait.late()))
        }, wait.waitMs)
        listeners.add(listener)
        return Effect.sync(stop)
      })
    })
  return {
    ring: () => {
      for (const listener of listeners) listener()
    },
    until
  }
}
