/** The records of a replay in their order, shard by shard behind what the target has already. */
import {
  type ArchiveEntry,
  isBehind,
  type ReplayPlace,
  type ReplaySelection
} from "@holdfast/catalogue"
import type { SegmentRecord } from "@holdfast/segment"
import { Effect, Stream } from "effect"
import type { ArchivedRecord, ArchiveReader, RecordBatch } from "./archive-reader.ts"
import type { ArchiveSearch, SearchError } from "./archive-search.ts"
import { mergeSorted } from "./merge-sorted.ts"

/** Records that follow each other. */
export type ReplayRun = ReadonlyArray<ArchivedRecord>

/** What is brought of one shard: behind `after`, up to and including `to`. */
export interface ReplayStretch {
  readonly shard: string
  readonly after: ReplayPlace | undefined
  readonly to: bigint | undefined
}

/** Reads what a replay brings. */
export interface ReplayReading {
  readonly archive: ArchiveEntry
  readonly selection: ReplaySelection
  readonly stretches: ReadonlyArray<ReplayStretch>
}

const byTime = (left: ArchivedRecord, right: ArchivedRecord): number =>
  left.record.timestamp < right.record.timestamp
    ? -1
    : left.record.timestamp > right.record.timestamp
      ? 1
      : 0

const laterOf = (left: bigint | undefined, right: bigint | undefined): bigint | undefined =>
  left === undefined || (right !== undefined && right > left) ? right : left

/** Reads replays through a reader and a search. */
export const makeReplayOrder = (parts: {
  readonly reader: ArchiveReader
  readonly search: ArchiveSearch
}) => {
  const { reader, search } = parts

  const batchesOf = (
    { archive, selection }: ReplayReading,
    { after, shard, to }: ReplayStretch
  ): Stream.Stream<RecordBatch, SearchError> => {
    const { tag, timeFrom, timeTo } = selection
    const from = laterOf(selection.from, after?.position)
    const bounds = { archive: archive.origin.name, shard, from, to, timeFrom, timeTo }
    return tag === undefined ? reader.batches(bounds) : search.batches(archive, { ...bounds, tag })
  }

  /** One shard's records, by position. */
  const ofShard = (
    reading: ReplayReading,
    stretch: ReplayStretch
  ): Stream.Stream<ReplayRun, SearchError> => {
    const { after, shard } = stretch
    const isNew = (record: SegmentRecord): boolean => after === undefined || isBehind(record, after)
    return Stream.map(batchesOf(reading, stretch), ({ records }) =>
      records.flatMap((record) => (isNew(record) ? [{ shard, record }] : []))
    )
  }

  /** All records: one shard's by position; several shards' merged by the times of their records. */
  const runs = (reading: ReplayReading): Stream.Stream<ReplayRun, SearchError> => {
    const [only, ...others] = reading.stretches
    if (only === undefined) return Stream.empty
    if (others.length === 0) return ofShard(reading, only)
    const shards = reading.stretches.map((stretch) =>
      Stream.flattenIterable(ofShard(reading, stretch))
    )
    return Stream.mapArray(mergeSorted(shards, byTime), (run) => [run])
  }

  /** About how many records there are, by their segments; none is known of a tag's. */
  const estimate = (reading: ReplayReading): Effect.Effect<number | undefined, SearchError> => {
    const { archive, selection } = reading
    const { tag, timeFrom, timeTo } = selection
    if (tag !== undefined || timeFrom !== undefined || timeTo !== undefined) {
      return Effect.succeed(undefined)
    }
    const counted = Effect.forEach(reading.stretches, ({ after, shard, to }) => {
      const from = laterOf(selection.from, after === undefined ? undefined : after.position + 1n)
      return Stream.runFold(
        reader.segmentsOf(archive.origin.name, shard, { from, to }),
        () => 0,
        (sum, segment) => sum + shareOf(segment, { from, to })
      )
    })
    return Effect.map(counted, (counts) =>
      Math.round(counts.reduce((sum, count) => sum + count, 0))
    )
  }

  return { runs, estimate }
}

/** How many of a segment's records lie within bounds, if they are spread evenly. */
const shareOf = (
  segment: { readonly first: bigint; readonly last: bigint; readonly count: number },
  bounds: { readonly from: bigint | undefined; readonly to: bigint | undefined }
): number => {
  const first =
    bounds.from === undefined || bounds.from < segment.first ? segment.first : bounds.from
  const last = bounds.to === undefined || bounds.to > segment.last ? segment.last : bounds.to
  return (segment.count * Number(last - first + 1n)) / Number(segment.last - segment.first + 1n)
}

/** Reads what replays bring. */
export type ReplayOrder = ReturnType<typeof makeReplayOrder>
