/**
 * Verifying an archive: is everything there, whole, and as often as it should be?
 *
 *     coverage     the positions of each shard without a gap between segments
 *     checksums    each segment's file, each block, its digest; every copy where asked for
 *     copies       as many as the goal
 *     orphans      committed chunks that no entry refers to
 *
 * 1. Verifying changes nothing, unless it is to repair.
 * 2. Repair adopts an orphan by sealing it as its file says: the catalogue decides whether it is
 *    needed, and what it does not need is freed. A segment goes only when every record of it is
 *    in another one. Copies are made by the metadata service itself.
 */
import type { SegmentChunk, SegmentEntry } from "@holdfast/catalogue"
import { chunkIdOfTag } from "@holdfast/catalogue"
import { compareBytes, decodeSegment, verifySegment } from "@holdfast/segment"
import { Effect, Option, Result, Stream } from "effect"
import type { ArchiveAdmin } from "./archive-admin.ts"
import type { ArchiveReader } from "./archive-reader.ts"
import type { CatalogueClient } from "./catalogue-client.ts"
import type { ChunkClient } from "./chunk-client.ts"
import type { CatalogueError, CatalogueRefused, ReadError } from "./errors.ts"
import type { ListedChunk, MetadataClient } from "./metadata-client.ts"
import { segmentReading } from "./platform.ts"
import { ownerOf, segmentEntryOf } from "./segment-draft.ts"

/** How to verify. */
export interface VerifyOptions {
  readonly archive: string
  /** Read every copy of every segment instead of one. */
  readonly everyCopy?: boolean | undefined
  readonly repair?: boolean | undefined
}

/** One thing that is not as it should be. */
export type Finding =
  | {
      /**
       * No segment holds these positions; harmless where the source never had them, or where
       * they are aggregates without user records.
       */
      readonly _tag: "Gap"
      readonly shard: string
      readonly from: bigint
      readonly to: bigint
    }
  | {
      readonly _tag: "Unreadable"
      readonly shard: string
      readonly first: bigint
      readonly last: bigint
      readonly reason: string
    }
  | {
      readonly _tag: "BadCopy"
      readonly shard: string
      readonly first: bigint
      readonly deviceId: string
      readonly reason: string
    }
  | {
      readonly _tag: "FewCopies"
      readonly chunk: SegmentChunk
      readonly copies: number
      readonly goal: number
    }
  | {
      readonly _tag: "Orphan"
      readonly chunk: SegmentChunk
      readonly outcome: "left" | "adopted" | "freed" | "unreadable"
    }
  | {
      readonly _tag: "Covered"
      readonly shard: string
      readonly first: bigint
      readonly last: bigint
      readonly outcome: "left" | "removed"
    }
  | {
      /** An entry whose chunk the metadata service does not have. */
      readonly _tag: "NoChunk"
      readonly chunkId: number
    }

/** What a verification found. */
export interface VerifyReport {
  readonly segments: number
  readonly records: number
  readonly bytes: number
  readonly copies: number
  readonly findings: ReadonlyArray<Finding>
  /** Nothing was found but gaps, and what was repaired. */
  readonly sound: boolean
}

/** Everything that verifying may fail with. */
export type VerifyError = ReadError | CatalogueRefused

const isHarmless = (finding: Finding): boolean => {
  switch (finding._tag) {
    case "Gap":
      return true
    case "Orphan":
      return finding.outcome === "adopted" || finding.outcome === "freed"
    case "Covered":
      return finding.outcome === "removed"
    case "Unreadable":
    case "BadCopy":
    case "FewCopies":
    case "NoChunk":
      return false
  }
}

/** What lies between the commit of a chunk and its entry in the catalogue, in ordinary times. */
const sealingPause = "1 second"

interface Shard {
  readonly reach: SegmentEntry | undefined
  readonly covered: bigint | undefined
}

/** Verifies archives. */
export const makeArchiveVerify = (parts: {
  readonly admin: ArchiveAdmin
  readonly catalogue: CatalogueClient["Service"]
  readonly chunks: ChunkClient["Service"]
  readonly metadata: MetadataClient["Service"]
  readonly reader: ArchiveReader
}) => {
  const { admin, catalogue, chunks, metadata, reader } = parts

  const checkFile = (segment: SegmentEntry): Effect.Effect<Option.Option<string>, ReadError> =>
    chunks.read({ chunk: segment.chunk }).pipe(
      Effect.map((bytes) => {
        const verified = verifySegment(bytes, segmentReading)
        if (Result.isFailure(verified)) return Option.some(verified.failure.message)
        const { damaged, file, records } = verified.success
        if (damaged[0] !== undefined) return Option.some(damaged[0].message)
        const { first, last } = file.summary
        const isSealed =
          records.length === segment.count &&
          first === segment.first &&
          last === segment.last &&
          compareBytes(file.summary.digest, segment.digest) === 0
        return isSealed ? Option.none() : Option.some("The file is not what the entry describes.")
      }),
      Effect.catchTag("ChunkUnreadable", (error) => Effect.succeed(Option.some(error.message)))
    )

  const checkCopies = (segment: SegmentEntry): Effect.Effect<ReadonlyArray<Finding>, ReadError> =>
    Effect.gen(function* () {
      // Asked anew: a location that was remembered may name copies that are gone by right.
      const { holders } = yield* metadata.locate(segment.chunk)
      const { first, shard } = segment
      const checked = yield* Effect.forEach(holders, (holder) =>
        Effect.map(
          chunks.checkCopy(segment.chunk, holder),
          Option.map((reason): Finding => {
            const { deviceId } = holder
            return { _tag: "BadCopy", shard, first, deviceId, reason }
          })
        )
      )
      return checked.flatMap(Option.toArray)
    })

  const checkSegment = Effect.fnUntraced(function* (
    segment: SegmentEntry,
    options: VerifyOptions
  ): Effect.fn.Return<ReadonlyArray<Finding>, ReadError> {
    const reason = yield* checkFile(segment)
    const { first, last, shard } = segment
    if (Option.isSome(reason)) {
      return [{ _tag: "Unreadable", shard, first, last, reason: reason.value }]
    }
    return options.everyCopy === true ? yield* checkCopies(segment) : []
  })

  /** Whether every record of one segment stands in another. */
  const isWithin = Effect.fnUntraced(function* (
    inner: SegmentEntry,
    outer: SegmentEntry
  ): Effect.fn.Return<boolean, ReadError> {
    const selection = { from: inner.first, to: inner.last }
    const all = yield* reader.readSegment(inner, {})
    const others = yield* reader.readSegment(outer, selection)
    const known = new Set(others.records.map(({ part, position }) => `${position}/${part}`))
    return all.records.every(({ part, position }) => known.has(`${position}/${part}`))
  })

  const checkOverlap = Effect.fnUntraced(function* (
    segment: SegmentEntry,
    reach: SegmentEntry,
    options: VerifyOptions
  ): Effect.fn.Return<ReadonlyArray<Finding>, VerifyError> {
    if (segment.last > reach.last || !(yield* isWithin(segment, reach))) return []
    const repair = options.repair === true
    if (repair) yield* admin.expireSegment(segment, "covered")
    const { first, last, shard } = segment
    return [{ _tag: "Covered", shard, first, last, outcome: repair ? "removed" : "left" }]
  })

  const followShard = Effect.fnUntraced(function* (
    shard: Shard,
    segment: SegmentEntry,
    options: VerifyOptions
  ): Effect.fn.Return<readonly [Shard, ReadonlyArray<Finding>], VerifyError> {
    const { covered, reach } = shard
    if (reach === undefined || covered === undefined) {
      return [{ reach: segment, covered: segment.last }, []]
    }
    const findings: Array<Finding> = []
    if (segment.first > covered + 1n) {
      const gap = { from: covered + 1n, to: segment.first - 1n }
      findings.push({ _tag: "Gap", shard: segment.shard, ...gap })
    } else if (segment.first <= covered) {
      findings.push(...(yield* checkOverlap(segment, reach, options)))
    }
    return segment.last > covered
      ? [{ reach: segment, covered: segment.last }, findings]
      : [shard, findings]
  })

  const checkShard = (archive: string, shard: string, options: VerifyOptions) =>
    reader.segmentsOf(archive, shard, {}).pipe(
      Stream.mapEffect(
        (segment) =>
          Effect.map(checkSegment(segment, options), (findings) => ({ segment, findings })),
        { concurrency: 2 }
      ),
      Stream.mapAccumEffect(
        (): Shard => ({ reach: undefined, covered: undefined }),
        (state, { findings, segment }) =>
          Effect.map(
            followShard(state, segment, options),
            ([next, found]) => [next, [{ segment, findings: [...findings, ...found] }]] as const
          )
      )
    )

  const adopt = Effect.fnUntraced(function* (
    chunk: SegmentChunk
  ): Effect.fn.Return<"adopted" | "freed" | "unreadable", VerifyError> {
    const bytes = yield* Effect.option(chunks.read({ chunk }))
    if (Option.isNone(bytes)) return "unreadable"
    const decoded = decodeSegment(bytes.value, segmentReading)
    if (Result.isFailure(decoded)) return "unreadable"
    const { summary } = decoded.success.file
    const owner = ownerOf(summary)
    if (owner === undefined) return "unreadable"
    const segment = segmentEntryOf(owner, summary, chunk)
    const output = yield* catalogue.send(
      catalogue.segmentKey(segment),
      { _tag: "Sealed", segment },
      { writeConcern: "majority" }
    )
    switch (output._tag) {
      case "Accepted":
      case "Covered":
        yield* metadata.free(output.free)
        return output._tag === "Accepted" ? "adopted" : "freed"
      case "Unchanged":
        return "adopted"
      case "Refused":
        return "unreadable"
    }
  })

  const checkChunk = Effect.fnUntraced(function* (
    listed: ListedChunk,
    known: ReadonlySet<number>,
    options: VerifyOptions
  ): Effect.fn.Return<ReadonlyArray<Finding>, VerifyError> {
    const { chunk, copies, goal } = listed
    const findings: Array<Finding> = []
    if (copies < goal) findings.push({ _tag: "FewCopies", chunk, copies, goal })
    if (known.has(chunk.chunkId)) return findings
    const outcome = options.repair === true ? yield* adopt(chunk) : "left"
    return [...findings, { _tag: "Orphan", chunk, outcome }]
  })

  const knownChunks = (fileId: number): Effect.Effect<ReadonlySet<number>, CatalogueError> =>
    catalogue.walkTags(catalogue.tags.chunksOfFile(fileId)).pipe(
      Stream.runCollect,
      Effect.map((records) => new Set(records.map(({ tag }) => chunkIdOfTag(tag))))
    )

  /** A chunk that was committed after the list was made is no finding. */
  const isCommitted = (chunk: { readonly fileId: number; readonly chunkId: number }) =>
    metadata.locate(chunk).pipe(
      Effect.as(true),
      Effect.catch((error) =>
        error.code === "no-such-chunk" ? Effect.succeed(false) : Effect.fail(error)
      )
    )

  /** Compares the metadata service's chunks of the archive's file with the entries. */
  const checkChunks = Effect.fnUntraced(function* (
    fileId: number,
    options: VerifyOptions
  ): Effect.fn.Return<
    { readonly findings: ReadonlyArray<Finding>; readonly copies: number },
    VerifyError
  > {
    // The chunks first: a segment that is sealed in between then has its entry already.
    const listed = yield* Stream.runCollect(metadata.listChunks(fileId))
    let known = yield* knownChunks(fileId)
    if (listed.some(({ chunk }) => !known.has(chunk.chunkId))) {
      // A segment whose chunk is committed is about to be sealed, most likely: look again.
      yield* Effect.sleep(sealingPause)
      known = yield* knownChunks(fileId)
    }
    const findings: Array<Finding> = []
    for (const one of listed) findings.push(...(yield* checkChunk(one, known, options)))
    const present = new Set(listed.map(({ chunk }) => chunk.chunkId))
    for (const chunkId of known) {
      if (present.has(chunkId) || (yield* isCommitted({ fileId, chunkId }))) continue
      findings.push({ _tag: "NoChunk", chunkId })
    }
    return { findings, copies: listed.reduce((sum, { copies }) => sum + copies, 0) }
  })

  /** Verifies an archive, and repairs what can be repaired where that is asked for. */
  return Effect.fn("ArchiveClient.verify")(function* (
    options: VerifyOptions
  ): Effect.fn.Return<VerifyReport, VerifyError> {
    const { origin } = yield* admin.show(options.archive)
    const onChunks = yield* checkChunks(origin.fileId, options)
    const onSegments = yield* catalogue.shards(options.archive).pipe(
      Stream.flatMap((shard) => checkShard(options.archive, shard, options)),
      Stream.runFold(
        () => ({ segments: 0, records: 0, bytes: 0, findings: [] as ReadonlyArray<Finding> }),
        (sum, { findings, segment }) => ({
          segments: sum.segments + 1,
          records: sum.records + segment.count,
          bytes: sum.bytes + segment.storedBytes,
          findings: findings.length === 0 ? sum.findings : [...sum.findings, ...findings]
        })
      )
    )
    const findings = [...onChunks.findings, ...onSegments.findings]
    return {
      segments: onSegments.segments,
      records: onSegments.records,
      bytes: onSegments.bytes,
      copies: onChunks.copies,
      findings,
      sound: findings.every(isHarmless)
    }
  })
}
