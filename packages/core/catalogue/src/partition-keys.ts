/** Where an entry of the catalogue lives: partition keys as pure functions of what it is about. */
import { joinBytes, orderedPosition, orderedText } from "./ordered-bytes.ts"
import type { CataloguePlatform } from "./platform.ts"

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** What the key of a segment's partition is made of. */
export interface SegmentIdentity {
  readonly archive: string
  readonly shard: string
  readonly first: bigint
  readonly complete: boolean
  readonly digest: Uint8Array
}

/**
 * The key of a segment's partition: 64 hex digits, the same for every attempt to seal it.
 *
 * Of two complete segments that begin at one position the longer holds everything of the other:
 * they share a key, and one of them stays. Nothing of the kind is known of incomplete ones, which
 * hold what was left over from failures: their keys differ with their contents.
 */
export const segmentKey = (
  segment: SegmentIdentity,
  platform: Pick<CataloguePlatform, "encodeText" | "sha256">
): string =>
  hexOf(
    platform.sha256(
      joinBytes([
        platform.encodeText("holdfast segment\n"),
        orderedText(platform.encodeText(segment.archive)),
        orderedText(platform.encodeText(segment.shard)),
        orderedPosition(segment.first),
        segment.complete ? new Uint8Array(0) : segment.digest
      ])
    )
  )

/** The key of an archive's own partition: 64 hex digits. */
export const archiveKey = (
  name: string,
  platform: Pick<CataloguePlatform, "encodeText" | "sha256">
): string => hexOf(platform.sha256(joinBytes([platform.encodeText(`holdfast archive\n${name}`)])))

/** The key of a plain file's partition: 64 hex digits. */
export const fileKey = (
  name: string,
  platform: Pick<CataloguePlatform, "encodeText" | "sha256">
): string => hexOf(platform.sha256(platform.encodeText(`holdfast file\n${name}`)))
