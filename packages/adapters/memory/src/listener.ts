/**
 * One listener of a subject: handles a bounded number of messages at a time, holds a bounded number
 * more and refuses the next.
 *
 * 1. At most `concurrency` handlers run, at most `backlog` messages wait, in order of arrival.
 * 2. A handler that dies ends its own message only.
 * 3. `drain` refuses new messages and ends when everything taken is handled; `kill` interrupts.
 */
import type { IncomingMessage, ListenOptions, Reply } from "@holdfast/messaging"
import type { Context, Fiber } from "effect"
import { Effect, Exit, Latch } from "effect"

/** A message for a listener, and where its reply goes; a publish has no use for the reply. */
export interface Delivery {
  readonly message: IncomingMessage
  readonly reply: (reply: Reply) => void
}

/** A listener as the network sees it. */
export interface Listener {
  readonly node: string
  readonly options: ListenOptions
  /** Takes a delivery, or answers false when the backlog is full or the listener is closing. */
  readonly offer: (delivery: Delivery) => boolean
  readonly isOpen: () => boolean
  readonly drain: Effect.Effect<void>
  readonly kill: () => void
}

/**
 * Makes a listener whose handlers run with the given context (its clock, randomness, scheduler).
 */
export const makeListener = (given: {
  readonly node: string
  readonly options: ListenOptions
  readonly context: Context.Context<never>
  readonly handler: (message: IncomingMessage) => Effect.Effect<Reply | void>
}): Listener => {
  const { concurrency, backlog } = given.options
  const waiting: Array<Delivery> = []
  const running = new Set<Fiber.Fiber<Reply | void>>()
  const idle = Latch.makeUnsafe(true)
  let open = true
  let killed = false

  const start = (delivery: Delivery): void => {
    idle.closeUnsafe()
    // The yield keeps a chain of synchronous handlers from growing the stack.
    const fiber = Effect.runForkWith(given.context)(
      Effect.andThen(
        Effect.yieldNow,
        Effect.suspend(() => given.handler(delivery.message))
      )
    )
    running.add(fiber)
    fiber.addObserver((exit) => {
      running.delete(fiber)
      if (killed) return
      if (Exit.isSuccess(exit) && exit.value !== undefined) delivery.reply(exit.value)
      const next = waiting.shift()
      if (next !== undefined) start(next)
      else if (running.size === 0) idle.openUnsafe()
    })
  }

  const offer = (delivery: Delivery): boolean => {
    if (!open) return false
    if (running.size < concurrency) start(delivery)
    else if (waiting.length < backlog) waiting.push(delivery)
    else return false
    return true
  }

  const close = Effect.sync(() => {
    open = false
  })
  return {
    node: given.node,
    options: given.options,
    offer,
    isOpen: () => open,
    drain: Effect.andThen(close, idle.await),
    kill: () => {
      open = false
      killed = true
      idle.openUnsafe()
      waiting.length = 0
      for (const fiber of running) fiber.interruptUnsafe()
    }
  }
}
