/**
 * Reservations: room that is asked for and held for a while, then given back, or forgotten. What is
 * reserved and how it must fit is watched by the oracle of room.
 */
import { MetadataClient } from "@holdfast/client"
import { Clock, Effect } from "effect"
import type { RandomSource } from "../random-source.ts"
import type { MakeWorkload } from "./workload.ts"

/** Reservations that a client holds at a time. */
const heldAtATime = 4
const bytesMax = 3_000
const holdMillis = [500, 6_000] as const
const pauseMillis = [50, 400] as const

const reserve = Effect.fnUntraced(function* (random: RandomSource, fileId: number) {
  const metadata = yield* MetadataClient
  const size = random.integer(1, bytesMax)
  const { lease } = yield* metadata.alloc({ fileId, size, want: 2, min: 1, exclude: [] })
  yield* Effect.sleep(random.integer(...holdMillis))
  if (random.chance(0.7)) yield* metadata.abandon(lease)
})

const program = Effect.fnUntraced(function* (random: RandomSource, phaseMillis: number) {
  const clock = yield* Clock.Clock
  const metadata = yield* MetadataClient
  const end = clock.monotonicTimeNanosUnsafe() + BigInt(phaseMillis) * 1_000_000n
  while (clock.monotonicTimeNanosUnsafe() < end) {
    yield* metadata.createFile().pipe(
      Effect.flatMap((fileId) => reserve(random, fileId)),
      Effect.ignore
    )
    yield* Effect.sleep(random.integer(...pauseMillis))
  }
})

/** Makes the workload of reservations. */
export const reservations: MakeWorkload = ({ cluster, phaseMillis, random }) => ({
  prepare: Effect.void,
  programs: cluster.clients.map(() =>
    Effect.all(
      Array.from({ length: heldAtATime }, () => program(random, phaseMillis)),
      { concurrency: "unbounded", discard: true }
    )
  ),
  oracles: [],
  audit: Effect.void
})
