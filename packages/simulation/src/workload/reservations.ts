/**
 * Reservations: room that is asked for and held for a while, then given back, or forgotten: for new
 * chunks, and for chunks that are there, which must not change because of it. What is reserved and
 * how it must fit is watched by the oracle of room.
 */
import { MetadataClient } from "@holdfast/client"
import { Clock, Effect } from "effect"
import type { MakeWorkload, WorkloadOptions } from "./workload.ts"

/** Reservations that a client holds at a time. */
const heldAtATime = 4
const bytesMax = 3_000
const holdMillis = [500, 6_000] as const
const pauseMillis = [50, 400] as const
const shareOfNewChunks = 0.6

/** A chunk that is there, or a new one of a new file. */
const drawChunk = Effect.fnUntraced(function* ({ history, random }: WorkloadOptions) {
  const known = random.pick(history.current())
  if (known === undefined || random.chance(shareOfNewChunks)) {
    return { fileId: yield* (yield* MetadataClient).createFile() }
  }
  return { fileId: known.fileId, chunkId: known.chunkId }
})

const reserve = Effect.fnUntraced(function* (options: WorkloadOptions) {
  const { random } = options
  const metadata = yield* MetadataClient
  const size = random.integer(1, bytesMax)
  const chunk = yield* drawChunk(options)
  const { lease } = yield* metadata.alloc({ ...chunk, size, want: 2, min: 1, exclude: [] })
  yield* Effect.sleep(random.integer(...holdMillis))
  if (random.chance(0.7)) yield* metadata.abandon(lease)
})

const program = Effect.fnUntraced(function* (options: WorkloadOptions) {
  const { phaseMillis, random } = options
  const clock = yield* Clock.Clock
  const end = clock.monotonicTimeNanosUnsafe() + BigInt(phaseMillis) * 1_000_000n
  while (clock.monotonicTimeNanosUnsafe() < end) {
    yield* Effect.ignore(reserve(options))
    yield* Effect.sleep(random.integer(...pauseMillis))
  }
})

/** Makes the workload of reservations. */
export const reservations: MakeWorkload = (options) => ({
  prepare: Effect.void,
  programs: options.cluster.clients.map(() =>
    Effect.all(
      Array.from({ length: heldAtATime }, () => program(options)),
      { concurrency: "unbounded", discard: true }
    )
  ),
  oracles: [],
  audit: Effect.void
})
