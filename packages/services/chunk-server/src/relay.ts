/**
 * Passes the bytes of a write on to the next servers while this one stores them.
 *
 * 1. A few pieces wait between the two; the slower side holds the sender back.
 * 2. When the next server's exchange ends early, pieces are dropped and nothing waits any more.
 */
import {
  type ChunkName,
  type ChunkTarget,
  ChunkTransport,
  type WriteOutcome
} from "@holdfast/storage"
import { type Cause, type Duration, Effect, Fiber, Queue, Stream } from "effect"

/** Pieces on their way to the next server. */
const piecesMax = 16

/** A write that is passed on. */
export interface Relay {
  /** Whether bytes are still wanted. */
  readonly isOpen: () => boolean
  readonly feed: (piece: Uint8Array) => Effect.Effect<void>
  /** Ends the bytes and waits for what became of the targets, one outcome each. */
  readonly finish: Effect.Effect<ReadonlyArray<WriteOutcome>>
}

const noRelay: Relay = {
  isOpen: () => false,
  feed: () => Effect.void,
  finish: Effect.succeed([])
}

/** Starts passing a chunk on to `targets`; ends with the scope. */
export const startRelay = Effect.fnUntraced(function* (options: {
  readonly chunk: ChunkName
  readonly length: number
  readonly targets: ReadonlyArray<ChunkTarget>
  readonly deadline: Duration.Duration
}) {
  if (options.targets.length === 0) return noRelay
  const transport = yield* ChunkTransport
  const queue = yield* Queue.bounded<Uint8Array, Cause.Done>(piecesMax)
  let isOpen = true
  const sending = yield* transport.write({ ...options, data: Stream.fromQueue(queue) }).pipe(
    Effect.ensuring(
      Effect.suspend(() => {
        isOpen = false
        return Queue.shutdown(queue)
      })
    ),
    Effect.forkScoped
  )
  const relay: Relay = {
    isOpen: () => isOpen,
    feed: (piece) => (isOpen ? Effect.asVoid(Queue.offer(queue, piece)) : Effect.void),
    finish: Effect.andThen(Queue.end(queue), Fiber.join(sending))
  }
  return relay
})
