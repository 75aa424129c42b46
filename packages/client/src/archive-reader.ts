/**
 * Reading an archive back: segments in order, fetched ahead, verified, each record once.
 *
 *     index walk ─▶ segments by first position ─▶ fetch, decode, several ahead ─▶ overlaps merged
 *
 * 1. Records of a shard come in order of (position, part), each once, byte for byte.
 * 2. Damage is an error that names what is lost, or, where the caller says so, part of the batch.
 * 3. Memory is bounded: the segments fetched ahead and those that overlap.
 */
import type { IntervalWalk, SegmentEntry } from "@holdfast/catalogue"
import type { BlockDamaged, SegmentRecord, Selection } from "@holdfast/segment"
import { Effect, Stream } from "effect"
import type { Bounds, CatalogueClient } from "./catalogue-client.ts"
import type { ChunkClient } from "./chunk-client.ts"
import { type CatalogueError, type ReadError, SegmentUnreadable } from "./errors.ts"
import { mergeSorted } from "./merge-sorted.ts"
import { takeSegment } from "./overlap.ts"
import { makeSegmentReader, type SegmentPart } from "./segment-reader.ts"
import type { ClientSettings } from "./settings.ts"

/** What to read, and in which order. */
export interface ReadOptions extends Selection {
  readonly archive: string
  /** One shard; all of them when absent. */
  readonly shard?: string | undefined
  /** `position`: shard after shard. `time`: all shards merged by their records' times. */
  readonly order?: "position" | "time" | undefined
  /** `report` goes on behind blocks that are lost and names them in the batches. */
  readonly onDamage?: "fail" | "report" | undefined
}

/** Records of one shard that follow each other, and what is lost between them. */
export interface RecordBatch {
  readonly shard: string
  readonly records: ReadonlyArray<SegmentRecord>
  readonly damaged: ReadonlyArray<BlockDamaged>
}

/** One record and the shard it is of. */
export interface ArchivedRecord {
  readonly shard: string
  readonly record: SegmentRecord
}

const byFirst = (left: SegmentEntry, right: SegmentEntry): number =>
  left.first < right.first ? -1 : left.first > right.first ? 1 : 0

const damageError = (segment: SegmentEntry, damage: BlockDamaged): SegmentUnreadable =>
  new SegmentUnreadable({
    archive: segment.archive,
    shard: segment.shard,
    first: damage.first,
    last: damage.last,
    message: `The segment ${segment.first} to ${segment.last} is damaged: ${damage.message}`
  })

interface Held {
  readonly shard: string
  readonly records: ReadonlyArray<SegmentRecord>
}

/** Reads archives through the catalogue and the chunks. */
export const makeArchiveReader = (parts: {
  readonly catalogue: CatalogueClient["Service"]
  readonly chunks: ChunkClient["Service"]
  readonly settings: ClientSettings
}) => {
  const { catalogue, chunks, settings } = parts
  const readSegment = makeSegmentReader(chunks)

  /** A shard's segments that overlap the bounds, in order of their first positions. */
  const segmentsOf = (
    archive: string,
    shard: string,
    bounds: Bounds
  ): Stream.Stream<SegmentEntry, CatalogueError> => {
    const over = catalogue.tags.byPosition(archive, shard)
    return Stream.unwrap(
      Effect.map(catalogue.classesOf(over), (classes) =>
        mergeSorted(
          classes.map((one) => catalogue.classSegments(over, { ...bounds, class: one })),
          byFirst
        )
      )
    )
  }

  /**
   * The records of one shard's segments, which come in order of their first positions; `keep` drops
   * those that are not wanted before they are merged.
   */
  const readSegments = (
    segments: Stream.Stream<SegmentEntry, ReadError>,
    options: {
      readonly shard: string
      readonly selection: Selection
      readonly onDamage?: "fail" | "report" | undefined
      readonly keep?: ((record: SegmentRecord) => boolean) | undefined
    }
  ): Stream.Stream<RecordBatch, ReadError> => {
    const { keep, onDamage, selection, shard } = options
    const checked = (part: SegmentPart): Effect.Effect<SegmentPart, SegmentUnreadable> => {
      const [damage] = part.damaged
      if (damage !== undefined && onDamage !== "report") {
        return Effect.fail(damageError(part.segment, damage))
      }
      const records = keep === undefined ? part.records : part.records.filter(keep)
      return Effect.succeed({ ...part, records })
    }
    const batchOf = (held: Held["records"], damaged: ReadonlyArray<BlockDamaged>) =>
      held.length === 0 && damaged.length === 0 ? [] : [{ shard, records: held, damaged }]
    return segments.pipe(
      Stream.mapEffect((segment) => Effect.flatMap(readSegment(segment, selection), checked), {
        concurrency: settings.ahead
      }),
      Stream.mapAccum(
        (): ReadonlyArray<SegmentRecord> => [],
        (held, part: SegmentPart) => {
          const taken = takeSegment(held, { first: part.segment.first, records: part.records })
          return [taken.held, batchOf(taken.ready, part.damaged)] as const
        },
        { onHalt: (held) => batchOf(held, []) }
      )
    )
  }

  const readShard = (
    options: ReadOptions,
    shard: string
  ): Stream.Stream<RecordBatch, ReadError> => {
    const { archive, from, onDamage, timeFrom, timeTo, to } = options
    const overlapsTime = (segment: SegmentEntry): boolean =>
      (timeFrom === undefined || segment.timeMax >= timeFrom) &&
      (timeTo === undefined || segment.timeMin <= timeTo)
    const segments = Stream.filter(segmentsOf(archive, shard, { from, to }), overlapsTime)
    return readSegments(segments, { shard, selection: { from, to, timeFrom, timeTo }, onDamage })
  }

  /** All segments that overlap a stretch of time, by shard, each shard's by first position. */
  const collectByShard = Effect.fnUntraced(function* (
    walks: ReadonlyArray<IntervalWalk>,
    bounds: Bounds
  ): Effect.fn.Return<ReadonlyMap<string, ReadonlyArray<SegmentEntry>>, CatalogueError> {
    const distinct = new Map<string, SegmentEntry>()
    const collect = (segment: SegmentEntry) =>
      Effect.sync(() => {
        // The values of tags are not needed any more, and they are the most of it.
        const { chunkId, fileId } = segment.chunk
        distinct.set(`${fileId}/${chunkId}`, { ...segment, tags: [] })
      })
    yield* Effect.forEach(
      walks,
      (over) => Stream.runForEach(catalogue.intervalSegments(over, bounds), collect),
      { concurrency: 4, discard: true }
    )
    const sorted = Array.from(distinct.values()).toSorted(byFirst)
    return Map.groupBy(sorted, ({ shard }) => shard)
  })

  const shardsOf = (options: ReadOptions): Stream.Stream<string, CatalogueError> =>
    options.shard === undefined ? catalogue.shards(options.archive) : Stream.succeed(options.shard)

  const flatten = (batches: Stream.Stream<RecordBatch, ReadError>) =>
    batches.pipe(
      Stream.map(({ records, shard }) =>
        records.map((record): ArchivedRecord => ({ shard, record }))
      ),
      Stream.flattenIterable
    )

  const batchesByTime = (options: ReadOptions): Stream.Stream<RecordBatch, ReadError> => {
    const { archive, onDamage, timeFrom, timeTo } = options
    const bounds = { from: timeFrom, to: timeTo }
    return Stream.unwrap(
      Effect.map(collectByShard([catalogue.tags.byTime(archive)], bounds), (byShard) =>
        Stream.flatMap(
          Stream.fromIterable(
            Array.from(byShard)
              .filter(([shard]) => options.shard === undefined || options.shard === shard)
              .toSorted(([left], [right]) => (left < right ? -1 : 1))
          ),
          ([shard, segments]) =>
            readSegments(Stream.fromIterable(segments), {
              shard,
              selection: { timeFrom, timeTo },
              onDamage
            })
        )
      )
    )
  }

  /** The records in batches: the fast way through. Order is by position, shard after shard. */
  const batches = (options: ReadOptions): Stream.Stream<RecordBatch, ReadError> => {
    const { from, timeFrom, timeTo, to } = options
    const isTimeAlone = from === undefined && to === undefined
    return isTimeAlone && (timeFrom !== undefined || timeTo !== undefined)
      ? batchesByTime(options)
      : Stream.flatMap(shardsOf(options), (shard) => readShard(options, shard))
  }

  /** The records one by one, in the order wanted. */
  const records = (options: ReadOptions): Stream.Stream<ArchivedRecord, ReadError> => {
    if (options.order !== "time") return flatten(batches(options))
    const byTime = (left: ArchivedRecord, right: ArchivedRecord): number =>
      left.record.timestamp < right.record.timestamp
        ? -1
        : left.record.timestamp > right.record.timestamp
          ? 1
          : 0
    return Stream.unwrap(
      Effect.map(Stream.runCollect(shardsOf(options)), (shards) =>
        mergeSorted(
          shards.map((shard) => flatten(readShard(options, shard))),
          byTime
        )
      )
    )
  }

  return { batches, collectByShard, records, readSegments, segmentsOf, readSegment }
}

/** Reads archives. */
export type ArchiveReader = ReturnType<typeof makeArchiveReader>
