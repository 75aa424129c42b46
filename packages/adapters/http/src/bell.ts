/**
 * Waits for a condition that Node events change, with a deadline.
 *
 * 1. The condition is looked at before waiting and at each ring: no event is missed.
 * 2. A wait ends by its condition, its deadline or interruption, and leaves no timer behind.
 */
import { Effect } from "effect"

/** How long a condition is waited for. */
export interface Wait<E> {
  readonly waitMs: number
  /** What the wait fails with. */
  readonly late: () => E
  /** When the other side last moved, by `performance.now()`; the wait counts from there. */
  readonly moved?: () => number
}

/** Rung by event listeners, waited on by effects. */
export interface Bell {
  readonly ring: () => void
  /** Waits until `check` answers an effect, at most `waitMs`; then fails with `late()`. */
  readonly until: <A, E>(
    check: () => Effect.Effect<A, E> | undefined,
    wait: Wait<E>
  ) => Effect.Effect<A, E>
  /** Waits until `check` answers an effect, without a deadline of its own. */
  readonly whenever: <A, E>(check: () => Effect.Effect<A, E> | undefined) => Effect.Effect<A, E>
}

/** Makes a bell. */
export const makeBell = (): Bell => {
  const listeners = new Set<() => void>()
  const ring = () => {
    for (const listener of listeners) listener()
  }
  const whenever: Bell["whenever"] = (check) =>
    Effect.suspend(() => {
      const now = check()
      if (now !== undefined) return now
      return Effect.callback((resume) => {
        const listener = () => {
          const next = check()
          if (next === undefined) return
          listeners.delete(listener)
          resume(next)
        }
        listeners.add(listener)
        return Effect.sync(() => listeners.delete(listener))
      })
    })
  const until: Bell["until"] = (check, wait) =>
    Effect.suspend(() => {
      const now = check()
      if (now !== undefined) return now
      let isLate = false
      let timer: NodeJS.Timeout | undefined
      const arm = (restMs: number) => {
        timer = setTimeout(() => {
          const idleMs = performance.now() - (wait.moved?.() ?? Number.NEGATIVE_INFINITY)
          if (idleMs < wait.waitMs) return arm(wait.waitMs - idleMs)
          isLate = true
          ring()
        }, restMs)
      }
      arm(wait.waitMs)
      return whenever(() => check() ?? (isLate ? Effect.fail(wait.late()) : undefined)).pipe(
        Effect.ensuring(Effect.sync(() => clearTimeout(timer)))
      )
    })
  return { ring, until, whenever }
}
