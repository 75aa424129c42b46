/**
 * The four limits of a tracker, and the typed answer when one of them is reached.
 *
 * A limit bounds what is unfinished, so it is never passed by what fails, waits for a retry or is
 * stuck: at a limit the answer is a refusal, and the source keeps the record.
 */
import { Schema } from "effect"

const AtLeastOne = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(1)))

/**
 * What a tracker may hold at a time.
 *
 * - `records`: unfinished records.
 * - `items`: unfinished items; a record counts its unfinished parts, or 1 while its total is
 *   unknown.
 * - `bytes`: sum of the sizes of unfinished records. A single record over it is admitted alone.
 * - `span`: records from the oldest unfinished one to the newest, finished ones included.
 * - `partsPerRecord`: the highest total that one record may have.
 */
export const Limits = Schema.Struct({
  records: AtLeastOne,
  items: AtLeastOne,
  bytes: AtLeastOne,
  span: AtLeastOne,
  partsPerRecord: AtLeastOne
})
/** What a tracker may hold at a time. */
export type Limits = typeof Limits.Type

/** Limits that suit one shard: a few segments of 8 MiB of small records under way at a time. */
export const defaultLimits: Limits = {
  records: 262_144,
  items: 1_048_576,
  bytes: 64 * 1024 * 1024,
  span: 1_048_576,
  partsPerRecord: 1_000_000
}

/** Which limit refused an arrival; the same arrival is welcome again when something finishes. */
export type ReachedLimit = "records" | "items" | "bytes" | "span"

/** Why an arrival was not admitted. */
export type Refusal =
  /** A limit is reached; try again after something has finished. */
  | { readonly _tag: "LimitReached"; readonly limit: ReachedLimit; readonly maximum: number }
  /** The record alone is over what can ever be admitted. */
  | { readonly _tag: "TooLarge"; readonly what: "bytes" | "parts"; readonly maximum: number }
  /** A position below the newest that was never admitted: the source broke its order. */
  | { readonly _tag: "OutOfOrder"; readonly position: bigint; readonly newest: bigint }

/** The largest size of one record that can be accounted for. */
export const largestRecordBytes = 0xffff_ffff

/** The refusal that says a limit is reached. */
export const limitReached = (limit: ReachedLimit, limits: Limits): Refusal => ({
  _tag: "LimitReached",
  limit,
  maximum: limits[limit]
})

/** What is held now, and what one more record would add. */
export interface Usage {
  readonly records: number
  readonly items: number
  readonly bytes: number
  readonly span: number
  readonly arriving: { readonly bytes: number; readonly items: number }
}

/** Why one more record may not enter; none when it may. */
export const refusalFor = (limits: Limits, usage: Usage): Refusal | undefined => {
  const { arriving, bytes, items, records, span } = usage
  if (arriving.bytes > largestRecordBytes) {
    return { _tag: "TooLarge", what: "bytes", maximum: largestRecordBytes }
  }
  if (arriving.items > limits.partsPerRecord) {
    return { _tag: "TooLarge", what: "parts", maximum: limits.partsPerRecord }
  }
  if (records >= limits.records) return limitReached("records", limits)
  if (span >= limits.span) return limitReached("span", limits)
  // Alone, a record may be over the limits on items and bytes: else it could never pass.
  if (records === 0) return undefined
  if (items + arriving.items > limits.items) return limitReached("items", limits)
  if (bytes + arriving.bytes > limits.bytes) return limitReached("bytes", limits)
  return undefined
}
