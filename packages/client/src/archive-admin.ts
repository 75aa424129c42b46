/** Archives as an operator handles them: add, list, show, change, pause, resume, remove. */
import {
  type Acknowledgement,
  type Aggregation,
  type ArchiveEntry,
  ArchiveOrigin,
  ArchiveSettings,
  archiveSettingsDefault,
  type CatalogueEvent,
  type CatalogueOutput,
  type ExpiryReason,
  type SegmentEntry,
  type TagRange
} from "@holdfast/catalogue"
import { Clock, Effect, Result, Schedule, Schema, Stream } from "effect"
import type { CatalogueClient } from "./catalogue-client.ts"
import {
  ArchiveNotFound,
  type CallFailed,
  type CatalogueError,
  CatalogueRefused,
  InvalidRequest
} from "./errors.ts"
import type { MetadataClient } from "./metadata-client.ts"

/** An archive to add; settings for which nothing is said are the default ones. */
export interface AddArchiveOptions {
  readonly name: string
  readonly stream: string
  readonly filter?: string | undefined
  readonly shards?: ReadonlyArray<string> | undefined
  /** Archive aggregated messages as their user records; for the archive's whole life. */
  readonly aggregation?: Aggregation | undefined
  /** What the source is told of what is archived; for the archive's whole life. */
  readonly acknowledgement?: Acknowledgement | undefined
  readonly settings?: Partial<ArchiveSettings> | undefined
  /** The stream's own configuration as JSON, to restore it from. */
  readonly streamConfiguration?: string | undefined
}

/** An archive that is not made yet: its file id means nothing. */
export type ArchiveDraft = Pick<ArchiveEntry, "origin" | "settings">

/** What an archive holds, added up over its segments. */
export interface ArchiveTotals {
  readonly segments: number
  readonly records: number
  readonly rawBytes: number
  readonly storedBytes: number
  readonly timeMin: bigint | undefined
  readonly timeMax: bigint | undefined
  readonly shards: ReadonlyArray<{
    readonly shard: string
    readonly segments: number
    readonly records: number
    readonly first: bigint
    readonly last: bigint
  }>
}

/** Everything that handling an archive may fail with. */
export type AdminError = CatalogueError | CatalogueRefused | ArchiveNotFound | InvalidRequest

const decodeSettings = Schema.decodeUnknownResult(Schema.toType(ArchiveSettings))
const decodeOrigin = Schema.decodeUnknownResult(Schema.toType(ArchiveOrigin))

/** How long a replica may take to hear of what a majority holds. */
const unheard = {
  while: (error: CallFailed | ArchiveNotFound) => error._tag === "ArchiveNotFound",
  schedule: Schedule.spaced("100 millis"),
  times: 30
}

const notFound = (archive: string) =>
  new ArchiveNotFound({ archive, message: `There is no archive "${archive}".` })

const acceptedOr = (
  output: CatalogueOutput
): Effect.Effect<ReadonlyArray<SegmentEntry["chunk"]>, CatalogueRefused> => {
  switch (output._tag) {
    case "Accepted":
    case "Covered":
      return Effect.succeed(output.free)
    case "Unchanged":
      return Effect.succeed([])
    case "Refused": {
      const { message, reason } = output
      return Effect.fail(new CatalogueRefused({ reason, message }))
    }
  }
}

/** Adds a segment to the totals of its archive. */
const addUp = (totals: ArchiveTotals, segment: SegmentEntry): ArchiveTotals => {
  const { count, first, last, rawBytes, shard, storedBytes, timeMax, timeMin } = segment
  const known = totals.shards.find((one) => one.shard === shard)
  const others = totals.shards.filter((one) => one !== known)
  return {
    segments: totals.segments + 1,
    records: totals.records + count,
    rawBytes: totals.rawBytes + rawBytes,
    storedBytes: totals.storedBytes + storedBytes,
    timeMin: totals.timeMin === undefined || timeMin < totals.timeMin ? timeMin : totals.timeMin,
    timeMax: totals.timeMax === undefined || timeMax > totals.timeMax ? timeMax : totals.timeMax,
    shards: [
      ...others,
      {
        shard,
        segments: (known?.segments ?? 0) + 1,
        records: (known?.records ?? 0) + count,
        first: known === undefined || first < known.first ? first : known.first,
        last: known === undefined || last > known.last ? last : known.last
      }
    ]
  }
}

const noTotals: ArchiveTotals = {
  segments: 0,
  records: 0,
  rawBytes: 0,
  storedBytes: 0,
  timeMin: undefined,
  timeMax: undefined,
  shards: []
}

/** Handles archives through the catalogue and the metadata service. */
export const makeArchiveAdmin = (parts: {
  readonly catalogue: CatalogueClient["Service"]
  readonly metadata: MetadataClient["Service"]
}) => {
  const { catalogue, metadata } = parts
  const confirmed = { writeConcern: "majority" } as const

  const find = Effect.fnUntraced(function* (
    name: string
  ): Effect.fn.Return<ArchiveEntry | undefined, CallFailed> {
    const entry = yield* catalogue.entry(catalogue.archiveKey(name))
    return entry._tag === "Archive" ? entry.archive : undefined
  })

  /** The archive, also while it is paused or when it was removed. */
  const show = Effect.fnUntraced(function* (
    name: string
  ): Effect.fn.Return<ArchiveEntry, CallFailed | ArchiveNotFound> {
    return (yield* find(name)) ?? (yield* notFound(name))
  })

  const sendTo = (name: string, event: CatalogueEvent, requestId?: string) =>
    Effect.flatMap(
      catalogue.send(catalogue.archiveKey(name), event, { ...confirmed, requestId }),
      acceptedOr
    )

  /** An archive as `add` would make it, but for its file; nothing is made. */
  const draft = Effect.fnUntraced(function* (
    options: AddArchiveOptions
  ): Effect.fn.Return<ArchiveDraft, AdminError> {
    const { name } = options
    const settings = decodeSettings({ ...archiveSettingsDefault, ...options.settings })
    if (Result.isFailure(settings)) {
      return yield* new InvalidRequest({ message: settings.failure.message })
    }
    if (settings.success.deadLetter === options.stream) {
      const message = `The stream "${options.stream}" cannot take dead letters of its own archive.`
      return yield* new InvalidRequest({ message })
    }
    const present = yield* find(name)
    if (present !== undefined && present.status !== "removed") {
      const message = `The archive "${name}" exists already; it archives "${present.origin.stream}".`
      return yield* new CatalogueRefused({ reason: "exists", message })
    }
    const origin = decodeOrigin({
      name,
      stream: options.stream,
      shards: options.shards ?? [],
      fileId: 1,
      created: yield* Clock.currentTimeNanos,
      ...(options.filter === undefined ? {} : { filter: options.filter }),
      ...(options.aggregation === undefined ? {} : { aggregation: options.aggregation }),
      ...(options.acknowledgement === undefined
        ? {}
        : { acknowledgement: options.acknowledgement }),
      ...(options.streamConfiguration === undefined
        ? {}
        : { streamConfiguration: options.streamConfiguration })
    })
    if (Result.isFailure(origin)) {
      return yield* new InvalidRequest({ message: origin.failure.message })
    }
    return { origin: origin.success, settings: settings.success }
  })

  const add = Effect.fnUntraced(function* (
    options: AddArchiveOptions
  ): Effect.fn.Return<ArchiveEntry, AdminError> {
    const { name } = options
    const { origin, settings } = yield* draft(options)
    const fileId = yield* metadata.createFile()
    yield* sendTo(name, { _tag: "Created", origin: { ...origin, fileId }, settings })
    // A majority holds it, but the replica that answers may hear of it a moment later.
    return yield* Effect.retry(show(name), unheard)
  })

  /** All archives by name; removed ones only where they are asked for. */
  const list = (
    options: { readonly removed?: boolean } = {}
  ): Stream.Stream<ArchiveEntry, CatalogueError> =>
    catalogue.walk(catalogue.tags.archives).pipe(
      Stream.map(({ entry }) => (entry._tag === "Archive" ? [entry.archive] : [])),
      Stream.flattenIterable,
      Stream.filter(({ status }) => options.removed === true || status !== "removed")
    )

  /** Changes settings, from those there are now; two at once: one of them is refused. */
  const change = Effect.fnUntraced(function* (
    name: string,
    edit: (settings: ArchiveSettings) => ArchiveSettings
  ): Effect.fn.Return<ArchiveEntry, AdminError> {
    const { origin, revision, settings } = yield* show(name)
    const edited = decodeSettings(edit(settings))
    if (Result.isFailure(edited)) {
      return yield* new InvalidRequest({ message: edited.failure.message })
    }
    const { fileId } = origin
    yield* sendTo(name, { _tag: "Changed", fileId, revision, settings: edited.success })
    return yield* show(name)
  })

  /** Records the configuration that the archive's stream has now. */
  const describe = Effect.fnUntraced(function* (
    { origin }: ArchiveEntry,
    configuration: string
  ): Effect.fn.Return<void, AdminError> {
    const { fileId, name, streamConfiguration } = origin
    if (streamConfiguration === configuration) return
    yield* sendTo(name, { _tag: "Described", fileId, configuration })
  })

  const setStatus = (event: "Paused" | "Resumed" | "Removed") =>
    Effect.fnUntraced(function* (name: string): Effect.fn.Return<ArchiveEntry, AdminError> {
      const { origin } = yield* show(name)
      yield* sendTo(name, { _tag: event, fileId: origin.fileId })
      return yield* show(name)
    })

  /** Ends a segment: first in the catalogue, confirmed, then its chunk. */
  const expireSegment = Effect.fnUntraced(function* (
    segment: SegmentEntry,
    reason: ExpiryReason
  ): Effect.fn.Return<void, CallFailed | CatalogueRefused> {
    const event: CatalogueEvent = { _tag: "Expired", chunk: segment.chunk, reason }
    const output = yield* catalogue.send(catalogue.segmentKey(segment), event, confirmed)
    const free = yield* acceptedOr(output)
    yield* metadata.free(free)
  })

  const expireRange = (
    range: TagRange,
    options: { readonly reason: ExpiryReason; readonly keep: (segment: SegmentEntry) => boolean }
  ): Effect.Effect<number, CatalogueError | CatalogueRefused> =>
    catalogue.walk(range).pipe(
      Stream.mapEffect(
        ({ entry }) => {
          if (entry._tag !== "Segment" || options.keep(entry.segment)) return Effect.succeed(0)
          return Effect.as(expireSegment(entry.segment, options.reason), 1)
        },
        { concurrency: 8 }
      ),
      Stream.runFold(
        () => 0,
        (sum, one) => sum + one
      )
    )

  /** Ends every segment whose newest record is older than the archive keeps; how many. */
  const applyRetention = Effect.fnUntraced(function* (
    name: string
  ): Effect.fn.Return<number, CatalogueError | CatalogueRefused | ArchiveNotFound> {
    const { origin, settings, status } = yield* show(name)
    if (status === "removed") {
      const ended = yield* expireRange(catalogue.tags.expiring(name, 2n ** 63n - 1n), {
        reason: "removed",
        keep: ({ chunk }) => chunk.fileId !== origin.fileId
      })
      // Chunks that were committed and never sealed are nobody's any more.
      const left = yield* Stream.runCollect(metadata.listChunks(origin.fileId))
      yield* metadata.free(left.map(({ chunk }) => chunk))
      return ended
    }
    if (settings.keepMs === undefined) return 0
    const now = yield* Clock.currentTimeNanos
    const oldest = now - BigInt(settings.keepMs) * 1_000_000n
    return yield* expireRange(catalogue.tags.expiring(name, oldest - 1n), {
      reason: "retention",
      keep: () => false
    })
  })

  /** What the archive holds, added up over all its segments: one walk of the index. */
  const totals = (name: string): Effect.Effect<ArchiveTotals, CatalogueError> =>
    catalogue.walk(catalogue.tags.expiring(name, 2n ** 63n - 1n)).pipe(
      Stream.runFold(
        () => noTotals,
        (sum, { entry }) => (entry._tag === "Segment" ? addUp(sum, entry.segment) : sum)
      )
    )

  return {
    add,
    applyRetention,
    change,
    describe,
    draft,
    expireSegment,
    list,
    pause: setStatus("Paused"),
    remove: setStatus("Removed"),
    resume: setStatus("Resumed"),
    show,
    totals
  }
}

/** Handles archives. */
export type ArchiveAdmin = ReturnType<typeof makeArchiveAdmin>
