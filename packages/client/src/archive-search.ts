/**
 * Searching an archive by a tag's value in a stretch of time.
 *
 *     segments that hold the value          ┐
 *     segments that may hold any value      ├─▶ fetch, decode, filter the records
 *     segments sealed before the tag was    ┘
 *
 * 1. Every record with the value is found, once; no other record is.
 * 2. Only segments that can hold the value within the time are read.
 */
import {
  type ArchiveEntry,
  canonicalQuery,
  type IntervalWalk,
  makeTagFilter,
  type SegmentEntry,
  subjectTag,
  type TagOrder
} from "@holdfast/catalogue"
import { Effect, Result, Stream } from "effect"
import type { ArchiveReader, RecordBatch } from "./archive-reader.ts"
import type { CatalogueClient } from "./catalogue-client.ts"
import { type CatalogueError, InvalidRequest, type ReadError } from "./errors.ts"
import { cataloguePlatform } from "./platform.ts"

/** What to search for. Positions and times (nanoseconds since 1970) are inclusive. */
export interface SearchOptions {
  readonly archive: string
  /** One shard; all of them when absent. */
  readonly shard?: string | undefined
  readonly from?: bigint | undefined
  readonly to?: bigint | undefined
  readonly tag: { readonly name: string; readonly value: string }
  readonly timeFrom?: bigint | undefined
  readonly timeTo?: bigint | undefined
  readonly onDamage?: "fail" | "report" | undefined
}

/** Everything that a search may fail with. */
export type SearchError = ReadError | InvalidRequest

interface Query {
  readonly walks: ReadonlyArray<IntervalWalk>
  readonly keep: (record: RecordBatch["records"][number]) => boolean
}

/** Searches through the catalogue and a reader. */
export const makeArchiveSearch = (parts: {
  readonly catalogue: CatalogueClient["Service"]
  readonly reader: ArchiveReader
}) => {
  const { catalogue, reader } = parts
  const { tags } = catalogue

  const queryOf = (
    archive: ArchiveEntry,
    { name, value }: SearchOptions["tag"]
  ): Effect.Effect<Query, InvalidRequest> => {
    const archiveName = archive.origin.name
    const rules = archive.settings.tags
    const rule = rules.find((one) => one.name === name)
    if (rule === undefined && name !== subjectTag) {
      const names = [subjectTag, ...rules.map((one) => `"${one.name}"`)].join(", ")
      const message = `The archive "${archiveName}" has no tag "${name}"; it has ${names}.`
      return Effect.fail(new InvalidRequest({ message }))
    }
    const order: TagOrder = rule?.order ?? { _tag: "Text" }
    const canonical = canonicalQuery({ name, value, order }, cataloguePlatform)
    if (Result.isFailure(canonical)) {
      return Effect.fail(new InvalidRequest({ message: canonical.failure.message }))
    }
    const since = rule === undefined ? 0 : (archive.rulesSince[name] ?? 0)
    const before = Array.from({ length: since }, (_, rulesOf) => tags.byRules(archiveName, rulesOf))
    return Effect.succeed({
      walks: [
        tags.byValue(archiveName, name, canonical.success),
        tags.byOverflow(archiveName, name),
        ...before
      ],
      keep: makeTagFilter({ name, value: canonical.success }, rules, cataloguePlatform)
    })
  }

  /** The segments that can hold what is searched for, by shard. */
  const candidates = (query: Query, options: SearchOptions) => {
    const { from, shard, timeFrom, timeTo, to } = options
    const isWanted = (segment: SegmentEntry): boolean =>
      (shard === undefined || segment.shard === shard) &&
      (from === undefined || segment.last >= from) &&
      (to === undefined || segment.first <= to)
    const found = reader.collectByShard(query.walks, { from: timeFrom, to: timeTo })
    return Effect.map(found, (byShard) =>
      Array.from(byShard)
        .map(([name, segments]) => [name, segments.filter(isWanted)] as const)
        .filter(([, segments]) => segments.length > 0)
    )
  }

  /** The segments that can hold what is searched for. */
  const segments = Effect.fnUntraced(function* (
    archive: ArchiveEntry,
    options: SearchOptions
  ): Effect.fn.Return<ReadonlyArray<SegmentEntry>, CatalogueError | InvalidRequest> {
    const query = yield* queryOf(archive, options.tag)
    const byShard = yield* candidates(query, options)
    return byShard.flatMap(([, found]) => found)
  })

  /** The records found, shard after shard, each shard's in order of position. */
  const batches = (
    archive: ArchiveEntry,
    options: SearchOptions
  ): Stream.Stream<RecordBatch, SearchError> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const query = yield* queryOf(archive, options.tag)
        const byShard = yield* candidates(query, options)
        const { from, onDamage, timeFrom, timeTo, to } = options
        return Stream.flatMap(Stream.fromIterable(byShard), ([shard, found]) =>
          reader.readSegments(Stream.fromIterable(found), {
            shard,
            selection: { from, to, timeFrom, timeTo },
            onDamage,
            keep: query.keep
          })
        )
      })
    )

  return { batches, segments }
}

/** Searches archives. */
export type ArchiveSearch = ReturnType<typeof makeArchiveSearch>
