/**
 * Waiting on mutable state without polling: whoever changes it says so. A worker and the sources it
 * reads from wait like this for each other.
 */
import { Effect } from "effect"

interface Waiter {
  readonly isReady: () => boolean
  readonly wake: () => void
}

/** Wakes those whose condition has come true. */
export class Signal {
  private readonly waiters = new Set<Waiter>()

  /** Says that the state has changed. O(waiters). */
  notify(): void {
    for (const waiter of this.waiters) {
      if (!waiter.isReady()) continue
      this.waiters.delete(waiter)
      waiter.wake()
    }
  }

  /** Returns once the condition holds; at once when it does already. */
  waitUntil(isReady: () => boolean): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (isReady()) {
        resume(Effect.void)
        return undefined
      }
      const waiter: Waiter = { isReady, wake: () => resume(Effect.void) }
      this.waiters.add(waiter)
      return Effect.sync(() => this.waiters.delete(waiter))
    })
  }
}
