/**
 * Which chunks of a put that did not end are pieces of the source at hand.
 *
 *     pieces   a  b  c  d  e  f          a put that writes two pieces at a time and dies
 *     stored   a  b     d                leaves a beginning with a hole or two near its end
 *
 * 1. The contents of every stored chunk are a piece of the source, or the source is another one:
 *    then nothing of the put is used. What is stored twice, as an answer was lost, is used once.
 * 2. Here length, CRC-32 and goal decide. Whoever uses a chunk reads it back and compares.
 */
import type { SegmentChunk } from "@holdfast/catalogue"
import { Effect, Option, Stream } from "effect"
import type { ListedChunk } from "./metadata-client.ts"
import { crc32 } from "./platform.ts"

/** The chunks to use again, by the numbers of their pieces. */
export type KeptChunks = ReadonlyMap<number, SegmentChunk>

/**
 * Pieces that may be missing among those that are stored: what several runs leave that died one
 * after the other. With more the source is taken for another one before all of it was read.
 */
const holesMax = 64

const keyOf = (piece: { readonly length: number; readonly checksum: number }): string =>
  `${piece.length} ${piece.checksum}`

/** The stored chunks by length and checksum; equal ones are used in the order of their ids. */
const byContents = (stored: ReadonlyArray<ListedChunk>): Map<string, Array<SegmentChunk>> => {
  const chunks = new Map<string, Array<SegmentChunk>>()
  for (const { chunk } of stored) {
    const equals = chunks.get(keyOf(chunk))
    if (equals === undefined) chunks.set(keyOf(chunk), [chunk])
    else equals.push(chunk)
  }
  return chunks
}

/**
 * Finds the piece of each stored chunk; none when there is one without a piece. Reads the source up
 * to the last stored piece, once, and holds one piece at a time.
 */
export const matchStored = Effect.fnUntraced(function* <E>(options: {
  readonly pieces: Stream.Stream<Uint8Array, E>
  readonly stored: ReadonlyArray<ListedChunk>
  readonly goal: number
}): Effect.fn.Return<Option.Option<KeptChunks>, E> {
  const { goal, pieces, stored } = options
  if (stored.some((one) => one.goal !== goal)) return Option.none()
  const left = byContents(stored)
  const kept = new Map<number, SegmentChunk>()
  let passed = 0
  const unseen = new Set(left.keys())
  const isUndecided = (): boolean => kept.size < stored.length && passed - kept.size <= holesMax
  const look = (piece: Uint8Array) =>
    Effect.sync(() => {
      const key = keyOf({ length: piece.length, checksum: crc32(piece) })
      const chunk = left.get(key)?.shift()
      if (chunk !== undefined) kept.set(passed, chunk)
      unseen.delete(key)
      passed += 1
    })
  if (isUndecided()) {
    yield* pieces.pipe(Stream.tap(look), Stream.takeWhile(isUndecided), Stream.runDrain)
  }
  return unseen.size === 0 ? Option.some(kept) : Option.none()
})
