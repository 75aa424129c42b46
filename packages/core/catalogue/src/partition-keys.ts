/** Where an entry of the catalogue lives: partition keys as pure functions of what it is about. */
import { joinBytes, orderedPosition, orderedText } from "./ordered-bytes.ts"
import type { CataloguePlatform } from "./platform.ts"

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** The key of a segment's partition: 64 hex digits, the same for every attempt to seal it. */
export const segmentKey = (
  segment: { readonly archive: string; readonly shard: string; readonly first: bigint },
  platform: Pick<CataloguePlatform, "encodeText" | "sha256">
): string =>
  hexOf(
    platform.sha256(
      joinBytes([
        platform.encodeText("holdfast segment\n"),
        orderedText(platform.encodeText(segment.archive)),
        orderedText(platform.encodeText(segment.shard)),
        orderedPosition(segment.first)
      ])
    )
  )

/** The key of an archive's own partition: 64 hex digits. */
export const archiveKey = (
  name: string,
  platform: Pick<CataloguePlatform, "encodeText" | "sha256">
): string => hexOf(platform.sha256(joinBytes([platform.encodeText(`holdfast archive\n${name}`)])))
