/** Puts records into an archive as its pipeline would, one segment a call. */
import { type ArchiveEntry, drawnNames, makeTagDrawer } from "@holdfast/catalogue"
import { SegmentBuilder, type SegmentRecord } from "@holdfast/segment"
import { Effect, Result } from "effect"
import { CatalogueClient } from "../catalogue-client.ts"
import { ChunkClient } from "../chunk-client.ts"
import { cataloguePlatform, segmentWriting } from "../platform.ts"
import { ownerAttributes, segmentEntryOf } from "../segment-draft.ts"

/** What is sealed, and how far: `committed` leaves it without an entry. */
export interface SealOptions {
  readonly archive: ArchiveEntry
  readonly shard: string
  readonly records: ReadonlyArray<SegmentRecord>
  readonly complete?: boolean
  readonly until?: "sealed" | "committed"
}

/** Writes and seals one segment; answers its entry. */
export const sealRecords = Effect.fnUntraced(function* (options: SealOptions) {
  const { archive, complete = true, records, shard, until = "sealed" } = options
  const { origin, rules, settings } = archive
  const catalogue = yield* CatalogueClient
  const chunks = yield* ChunkClient
  const owner = { archive: origin.name, shard, rules, complete }
  const builder = new SegmentBuilder({
    platform: segmentWriting(settings.compression),
    tagNames: drawnNames(settings.tags),
    attributes: ownerAttributes(owner),
    limits: { tagValuesMax: settings.tagValuesMax, blockBytes: 2_048 }
  })
  const draw = makeTagDrawer(settings.tags, cataloguePlatform)
  for (const record of records) Result.getOrThrow(builder.append(record, draw(record)))
  const { bytes, checksum, summary } = Result.getOrThrow(builder.seal())
  const { fileId } = origin
  const want = settings.goal
  const { chunk } = yield* chunks.write({ fileId, bytes, checksum, want, min: want })
  const segment = segmentEntryOf(owner, summary, chunk)
  if (until === "sealed") {
    yield* catalogue.send(
      catalogue.segmentKey(segment),
      { _tag: "Sealed", segment },
      { writeConcern: "majority" }
    )
  }
  return segment
})
