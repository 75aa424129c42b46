/** What a stream carries and how it is read, drawn from a seed. */
import type { WatermarkOptions } from "@holdfast/adapter-memory"
import type { RandomSource } from "../random-source.ts"

/** The shape of a stream. */
export interface StreamShape {
  /** How many of its messages are aggregates. */
  readonly aggregates: number
  /** Whether its workers open them. */
  readonly areOpened: boolean
  /** How its workers acknowledge it; none where it is read freely. */
  readonly watermark: WatermarkOptions | undefined
  /** After which share of the faulty phase nothing is published to it any more. */
  readonly quietAfter: number
}

/** Draws the shape of a stream; `pendingMax` is what a watermark's limit is drawn between. */
export const drawStreamShape = (
  random: RandomSource,
  { pendingMax: [low, high] }: { readonly pendingMax: readonly [low: number, high: number] }
): StreamShape => ({
  aggregates: random.pick([0, 0.1, 0.4, 0.4]) ?? 0,
  areOpened: random.chance(0.75),
  watermark: random.chance(0.5) ? { pendingMax: random.integer(low, high) } : undefined,
  quietAfter: random.chance(0.3) ? random.nextDoubleUnsafe() : 1
})
