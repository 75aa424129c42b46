/**
 * Storing a sealed segment: three durable steps, then its records are done.
 *
 *     bytes on `goal` devices, fsynced ─▶ committed by the metadata service ─▶ Sealed on the peers
 *
 * 1. It is answered only when all three are durable; what fails before is no disposition.
 * 2. A step that was done is not done again: what is tried again goes on with the same chunk, under
 *    the same request ids.
 * 3. Chunks that lost against another one are freed, after the write that says so is confirmed.
 */
import type { CatalogueOutput, SegmentChunk } from "@holdfast/catalogue"
import {
  type CallFailed,
  type CatalogueClient,
  type ChunkClient,
  type ChunkUnwritten,
  type MetadataClient,
  segmentEntryOf,
  type WriteConcern
} from "@holdfast/client"
import { Data, Effect } from "effect"
import type { SegmentJob } from "./open-segment.ts"

/** The catalogue does not take the segment; trying again cannot help. */
export class SealRefused extends Data.TaggedError("SealRefused")<{ readonly message: string }> {}

/** Why a segment is not stored yet. */
export type StoreError = CallFailed | ChunkUnwritten | SealRefused

/** What became of a stored segment. */
export interface StoredSegment {
  /** False when another segment holds all of it already. */
  readonly kept: boolean
  readonly copies: number
}

/** What storing needs. */
export interface StoreParts {
  readonly catalogue: CatalogueClient["Service"]
  readonly chunks: ChunkClient["Service"]
  readonly metadata: MetadataClient["Service"]
}

/** How segments are stored. */
export interface StoreOptions {
  readonly writeConcern: WriteConcern
  /** Fewer durable copies are a failure; never more than the goal. */
  readonly minCopies: number
}

/** Prepares the storing of one segment; the effect may be run again after a failure. */
export const makeStore = (
  parts: StoreParts,
  job: SegmentJob,
  options: StoreOptions & { readonly requestId: string }
): Effect.Effect<StoredSegment, StoreError> => {
  const { catalogue, chunks, metadata } = parts
  const { archive, owner, sealed } = job
  const { goal } = archive.settings
  let attempt = 0
  let written: { readonly chunk: SegmentChunk; readonly copies: number } | undefined

  const write = Effect.suspend(() => {
    if (written !== undefined) return Effect.succeed(written)
    attempt++
    const writing = chunks.write({
      fileId: archive.origin.fileId,
      bytes: sealed.bytes,
      checksum: sealed.checksum,
      want: goal,
      min: Math.min(goal, options.minCopies),
      requestId: `${options.requestId}.${attempt}`
    })
    return Effect.tap(writing, (done) =>
      Effect.sync(() => {
        written = done
      })
    )
  })

  /** A chunk that is not freed now is found by `verify`. */
  const free = (superfluous: ReadonlyArray<SegmentChunk>) =>
    superfluous.length === 0
      ? Effect.void
      : metadata
          .free(superfluous)
          .pipe(Effect.catch((error) => Effect.logWarning("a chunk is left to verify", error)))

  const conclude = (
    output: CatalogueOutput,
    copies: number
  ): Effect.Effect<StoredSegment, SealRefused> => {
    switch (output._tag) {
      case "Accepted":
        return Effect.as(free(output.free), { kept: true, copies })
      case "Covered":
        return Effect.as(free(output.free), { kept: false, copies })
      case "Unchanged":
        return Effect.succeed({ kept: true, copies })
      case "Refused":
        return Effect.fail(new SealRefused({ message: output.message }))
    }
  }

  return Effect.gen(function* () {
    const { chunk, copies } = yield* write
    const segment = segmentEntryOf(owner, sealed.summary, chunk)
    const output = yield* catalogue.send(
      catalogue.segmentKey(segment),
      { _tag: "Sealed", segment },
      { writeConcern: options.writeConcern, requestId: `${options.requestId}.sealed` }
    )
    return yield* conclude(output, copies)
  })
}
