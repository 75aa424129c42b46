/**
 * A segment file and its catalogue entry, from either end: an entry from what was just sealed, or
 * from a file that was found without one. The file's attributes say which archive it is of.
 */
import type { SegmentChunk, SegmentEntry } from "@holdfast/catalogue"
import { type SegmentAttribute, type SegmentSummary } from "@holdfast/segment"
import { cataloguePlatform } from "./platform.ts"

/** Whose segment a file is, as its attributes say it. */
export interface SegmentOwner {
  readonly archive: string
  readonly shard: string
  /** The archive's count of tag rules. */
  readonly rules: number
  /** Every record that the shard has between the first and the last is in it. */
  readonly complete: boolean
}

const names = { archive: "archive", shard: "shard", rules: "rules", complete: "complete" } as const

/** The attributes that a segment file is written with. */
export const ownerAttributes = (owner: SegmentOwner): ReadonlyArray<SegmentAttribute> => [
  [names.archive, cataloguePlatform.encodeText(owner.archive)],
  [names.shard, cataloguePlatform.encodeText(owner.shard)],
  [names.rules, cataloguePlatform.encodeText(String(owner.rules))],
  [names.complete, cataloguePlatform.encodeText(String(owner.complete))]
]

/** The owner that a file names; undefined when it names none. */
export const ownerOf = (summary: SegmentSummary): SegmentOwner | undefined => {
  const attributes = new Map(
    summary.attributes.map(([name, value]) => [name, cataloguePlatform.decodeText(value)])
  )
  const archive = attributes.get(names.archive)
  const shard = attributes.get(names.shard)
  const rules = Number(attributes.get(names.rules))
  return archive === undefined || shard === undefined || !Number.isSafeInteger(rules)
    ? undefined
    : { archive, shard, rules, complete: attributes.get(names.complete) === "true" }
}

/** The catalogue entry of a file that is stored as a chunk. */
export const segmentEntryOf = (
  owner: SegmentOwner,
  summary: SegmentSummary,
  chunk: SegmentChunk
): SegmentEntry => ({
  archive: owner.archive,
  shard: owner.shard,
  first: summary.first,
  last: summary.last,
  complete: owner.complete,
  count: summary.count,
  rawBytes: summary.rawBytes,
  storedBytes: chunk.length,
  timeMin: summary.timeMin,
  timeMax: summary.timeMax,
  chunk,
  digest: summary.digest,
  tags: summary.tags,
  rules: owner.rules
})
