/**
 * One listener: handles a bounded number of messages at a time, holds a bounded number more and
 * refuses the next.
 *
 *     offer ──▶ running (at most `concurrency`)
 *          └──▶ waiting (at most `backlog`, in order of arrival) ──▶ running
 *          └──▶ false: the caller answers `overloaded` or counts a drop
 *
 * 1. A handler that dies ends its own message only.
 * 2. `drain` ends when everything taken is handled; after its deadline the rest is interrupted.
 */
import { Effect, type Context, type Duration, type Fiber, Latch } from "effect"

/** A listener of messages of type `M`. */
export interface Listener<M> {
  /** Takes a message, or answers false when the backlog is full. */
  readonly offer: (message: M) => boolean
  readonly drain: (deadline: Duration.Input) => Effect.Effect<void>
}

/** Makes a listener whose handlers run with the given context. */
export const makeListener = <M>(given: {
  readonly concurrency: number
  readonly backlog: number
  readonly context: Context.Context<never>
  readonly handle: (message: M) => Effect.Effect<void>
}): Listener<M> => {
  const waiting: Array<M> = []
  const running = new Set<Fiber.Fiber<void>>()
  const idle = Latch.makeUnsafe(true)
  const fork = Effect.runForkWith(given.context)
  const handle = (message: M) => Effect.suspend(() => given.handle(message))

  const start = (handling: Effect.Effect<void>): void => {
    idle.closeUnsafe()
    const fiber = fork(handling)
    running.add(fiber)
    fiber.addObserver(() => {
      running.delete(fiber)
      const next = waiting.shift()
      // The yield keeps a chain of synchronous handlers from growing the stack.
      if (next !== undefined) start(Effect.andThen(Effect.yieldNow, handle(next)))
      else if (running.size === 0) idle.openUnsafe()
    })
  }

  const interruptAll = Effect.sync(() => {
    waiting.length = 0
    for (const fiber of running) fiber.interruptUnsafe()
  })
  return {
    offer: (message) => {
      if (running.size < given.concurrency) start(handle(message))
      else if (waiting.length < given.backlog) waiting.push(message)
      else return false
      return true
    },
    drain: (deadline) =>
      idle.await.pipe(Effect.timeoutOrElse({ duration: deadline, orElse: () => interruptAll }))
  }
}
