/** The catalogue over the peers: typed events and entries, and walks of overlapping segments. */
import {
  archiveKey,
  CatalogueEvent,
  catalogueName,
  CatalogueOutput,
  CatalogueState,
  classesFrom,
  fileKey,
  type IntervalWalk,
  makeTagIndex,
  overlapping,
  readIntervalTag,
  type SegmentEntry,
  type SegmentIdentity,
  segmentKey,
  type TagRange
} from "@holdfast/catalogue"
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { CallFailed, type CatalogueError } from "./errors.ts"
import { type FoundRecord, PeerClient, type WriteConcern } from "./peer-client.ts"
import { cataloguePlatform } from "./platform.ts"
import { ClientConfig } from "./settings.ts"

/** An entry as a walk finds it. */
export interface FoundEntry {
  readonly tag: Uint8Array
  readonly key: string
  readonly entry: CatalogueState
}

/** Bounds of a walk of intervals, each inclusive, each may be left out. */
export interface Bounds {
  readonly from?: bigint | undefined
  readonly to?: bigint | undefined
}

const encodeEvent = Schema.encodeEffect(Schema.toCodecJson(CatalogueEvent))
const decodeOutput = Schema.decodeUnknownEffect(Schema.toCodecJson(CatalogueOutput))
const decodeState = Schema.decodeUnknownEffect(Schema.toCodecJson(CatalogueState))

const malformed = (message: string) =>
  new CallFailed({
    service: "peer",
    operation: "catalogue",
    code: "protocol",
    retryable: false,
    message: `The catalogue answered something else than its schema says: ${message}`
  })

const overlaps = (over: IntervalWalk, segment: SegmentEntry, bounds: Bounds): boolean => {
  const [low, high] =
    over.measure === "time" ? [segment.timeMin, segment.timeMax] : [segment.first, segment.last]
  return (
    (bounds.from === undefined || high >= bounds.from) &&
    (bounds.to === undefined || low <= bounds.to)
  )
}

const makeCatalogueClient = Effect.gen(function* () {
  const peers = yield* PeerClient
  const settings = yield* ClientConfig
  const tags = makeTagIndex(cataloguePlatform)

  const decodeFound = (record: FoundRecord): Effect.Effect<FoundEntry, CallFailed> =>
    decodeState(record.state).pipe(
      Effect.map((entry) => ({ tag: record.tag, key: record.key, entry })),
      Effect.mapError((error) => malformed(error.message))
    )

  const rangeOf = (range: TagRange, withState: boolean) => ({
    application: catalogueName,
    ...range,
    withState
  })

  const send = Effect.fnUntraced(function* (
    key: string,
    event: CatalogueEvent,
    options: { readonly writeConcern: WriteConcern; readonly requestId?: string | undefined }
  ): Effect.fn.Return<CatalogueOutput, CallFailed> {
    const json = yield* Effect.orDie(encodeEvent(event))
    const outputs = yield* peers.request({
      application: catalogueName,
      key,
      events: [json],
      ...options
    })
    return yield* decodeOutput(outputs[0]).pipe(
      Effect.mapError((error) => malformed(error.message))
    )
  })

  const entry = Effect.fnUntraced(function* (
    key: string
  ): Effect.fn.Return<CatalogueState, CallFailed> {
    const state = yield* peers.read({ application: catalogueName, key })
    if (state === null) return { _tag: "Empty" }
    return yield* decodeState(state).pipe(Effect.mapError((error) => malformed(error.message)))
  })

  const walk = (range: TagRange): Stream.Stream<FoundEntry, CatalogueError> =>
    Stream.mapEffect(peers.walk(rangeOf(range, true)), decodeFound)

  /** The tags alone: less to carry where they say enough. */
  const walkTags = (range: TagRange): Stream.Stream<FoundRecord, CatalogueError> =>
    peers.walk(rangeOf(range, false))

  const first = (range: TagRange): Effect.Effect<Option.Option<FoundEntry>, CatalogueError> =>
    Effect.flatMap(peers.firstPage(rangeOf(range, true), 1), ({ records: [record] }) =>
      record === undefined
        ? Effect.succeed(Option.none())
        : Effect.map(decodeFound(record), Option.some)
    )

  /** The classes of a walk that hold anything, by skipping from one to the next. */
  const classesOf = Effect.fnUntraced(function* (
    over: IntervalWalk
  ): Effect.fn.Return<ReadonlyArray<number>, CatalogueError> {
    const classes: Array<number> = []
    for (let next = 0; ;) {
      const { records } = yield* peers.firstPage(rangeOf(classesFrom(over, next), false), 1)
      const [record] = records
      const read = record === undefined ? undefined : readIntervalTag(over, record.tag)
      if (read === undefined) return classes
      classes.push(read.class)
      next = read.class + 1
    }
  })

  const segmentOf = ({ entry }: FoundEntry): ReadonlyArray<SegmentEntry> =>
    entry._tag === "Segment" ? [entry.segment] : []

  /** The segments of one class that overlap the bounds, by their lower ends. */
  const classSegments = (over: IntervalWalk, bounds: Bounds & { readonly class: number }) =>
    walk(overlapping(over, bounds)).pipe(
      Stream.map((found) => segmentOf(found).filter((one) => overlaps(over, one, bounds))),
      Stream.flattenIterable
    )

  /**
   * All segments of a walk that overlap the bounds, in no order. What fits one page costs one
   * request; more is walked class by class.
   */
  const intervalSegments = (
    over: IntervalWalk,
    bounds: Bounds
  ): Stream.Stream<SegmentEntry, CatalogueError> =>
    Stream.unwrap(
      Effect.gen(function* () {
        const range = rangeOf(classesFrom(over, 0), true)
        const page = yield* peers.firstPage(range, settings.pageSize)
        if (Option.isSome(page.next)) {
          const classes = yield* classesOf(over)
          return Stream.flatMap(Stream.fromIterable(classes), (one) =>
            classSegments(over, { ...bounds, class: one })
          )
        }
        const found = yield* Effect.forEach(page.records, decodeFound)
        return Stream.fromIterable(
          found.flatMap(segmentOf).filter((one) => overlaps(over, one, bounds))
        )
      })
    )

  /** An archive's shards that have a segment, in the order of their index. */
  const shards = (archive: string): Stream.Stream<string, CatalogueError> =>
    Stream.unfold(Option.none<string>(), (after) =>
      Effect.map(
        first(tags.shardsAfter(archive, Option.getOrUndefined(after))),
        Option.match({
          onNone: () => undefined,
          onSome: ({ entry }) =>
            entry._tag === "Segment"
              ? ([entry.segment.shard, Option.some(entry.segment.shard)] as const)
              : undefined
        })
      )
    )

  return {
    tags,
    send,
    entry,
    walk,
    walkTags,
    classesOf,
    classSegments,
    intervalSegments,
    shards,
    segmentKey: (segment: SegmentIdentity) => segmentKey(segment, cataloguePlatform),
    fileKey: (name: string) => fileKey(name, cataloguePlatform),
    archiveKey: (name: string) => archiveKey(name, cataloguePlatform)
  }
})

/** The catalogue as a program sees it. */
export class CatalogueClient extends Context.Service<
  CatalogueClient,
  Effect.Success<typeof makeCatalogueClient>
>()("@holdfast/client/CatalogueClient") {
  static readonly layer = Layer.effect(this, makeCatalogueClient)
}
