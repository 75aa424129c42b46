/**
 * A chunk server in memory: runs transfers on its own fibers, so that a client that goes away, and
 * a server that crashes, leave each other behind as two machines would.
 */
import type { ChunkEndpointHandlers } from "@holdfast/storage"
import type { Context, Exit, Fiber } from "effect"
import { Effect, Latch } from "effect"

/** A listening chunk server. */
export interface ChunkServer {
  readonly node: string
  readonly handlers: ChunkEndpointHandlers
  readonly isOpen: () => boolean
  /** Whether one more transfer is over the limit. */
  readonly isFull: () => boolean
  /** Starts a transfer; it counts until its effect ends. */
  readonly start: <A, E>(
    transfer: Effect.Effect<A, E>,
    onExit: (exit: Exit.Exit<A, E>) => void
  ) => void
  /** Takes no more transfers and waits for those that run. */
  readonly drain: Effect.Effect<void>
  readonly kill: () => void
}

/** Makes a server whose transfers run with the given context. */
export const makeChunkServer = (options: {
  readonly node: string
  readonly handlers: ChunkEndpointHandlers
  readonly transfersMax: number
  readonly context: Context.Context<never>
}): ChunkServer => {
  const running = new Set<Fiber.Fiber<unknown, unknown>>()
  const idle = Latch.makeUnsafe(true)
  const run = Effect.runForkWith(options.context)
  let open = true
  return {
    node: options.node,
    handlers: options.handlers,
    isOpen: () => open,
    isFull: () => running.size >= options.transfersMax,
    start: (transfer, onExit) => {
      idle.closeUnsafe()
      const fiber = run(Effect.andThen(Effect.yieldNow, transfer))
      running.add(fiber)
      fiber.addObserver((exit) => {
        running.delete(fiber)
        if (running.size === 0) idle.openUnsafe()
        onExit(exit)
      })
    },
    drain: Effect.suspend(() => {
      open = false
      return idle.await
    }),
    kill: () => {
      open = false
      for (const fiber of running) fiber.interruptUnsafe()
    }
  }
}
