/** Wakes whoever waits for something new; nothing that happens after `next` was taken is missed. */
import { Deferred, Effect } from "effect"

/** Something to wait for, again and again. */
export interface WakeUp {
  /** Wakes all who wait. */
  readonly wake: () => void
  /** The next waking; take it before looking, wait for it when nothing was found. */
  readonly next: () => Effect.Effect<void>
}

/** Makes one. */
export const makeWakeUp = (): WakeUp => {
  let waiting = Deferred.makeUnsafe<void>()
  return {
    wake: () => {
      const woken = waiting
      waiting = Deferred.makeUnsafe<void>()
      Deferred.doneUnsafe(woken, Effect.void)
    },
    next: () => Deferred.await(waiting)
  }
}
