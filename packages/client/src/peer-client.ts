/** What a program asks of peers: events to partitions, their states, and walks of the index. */
import { PeerOperations } from "@holdfast/wire"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { type CallFailed, CatalogueIncomplete } from "./errors.ts"
import { makeServiceCaller, type ServiceCallOptions } from "./service-call.ts"
import { ClientConfig } from "./settings.ts"

/** A place in the index. */
export type IndexCursor = PeerOperations.IndexCursor
/** A record of the index, with its partition's state where that was asked for. */
export type FoundRecord = PeerOperations.FoundRecord
/** How many participants must hold a write durably before it is answered. */
export type WriteConcern = PeerOperations.WriteConcern

/** A walk of the index: tags from `from` up to and including `upTo`. */
export interface IndexRange {
  readonly application: string
  readonly from: Uint8Array
  readonly upTo: Uint8Array
  readonly withState: boolean
}

/** One page of a walk. */
export interface IndexPage {
  readonly records: ReadonlyArray<FoundRecord>
  readonly next: Option.Option<IndexCursor>
  readonly missing: ReadonlyArray<readonly [from: string, to: string]>
}

/** Attempts at a page that some key ranges are missing from, before it is taken as incomplete. */
const partialAttemptsMax = 4
const partialPause = "200 millis"

const incomplete = (missing: IndexPage["missing"]) =>
  new CatalogueIncomplete({
    missing,
    message: `No live peer answers for ${missing.length} ranges of partition keys.`
  })

const makePeerClient = Effect.gen(function* () {
  const caller = yield* makeServiceCaller
  const settings = yield* ClientConfig
  const requestCall = caller(PeerOperations.request)
  const readCall = caller(PeerOperations.read)
  const searchCall = caller(PeerOperations.search)

  /** A page as peers answer it; a page too large for one message is asked for in halves. */
  const page = (
    range: IndexRange,
    after: Option.Option<IndexCursor>,
    limit: number
  ): Effect.Effect<IndexPage, CallFailed> =>
    searchCall({
      ...range,
      limit,
      ...(Option.isSome(after) ? { after: after.value } : {})
    }).pipe(
      Effect.map(({ missing, next, records }) => ({
        records,
        next: Option.fromUndefinedOr(next),
        missing
      })),
      Effect.catch((error) =>
        error.code === "too-large" && limit > 1
          ? page(range, after, Math.floor(limit / 2))
          : Effect.fail(error)
      )
    )

  const completePage = Effect.fnUntraced(function* (
    range: IndexRange,
    after: Option.Option<IndexCursor>,
    limit: number
  ): Effect.fn.Return<IndexPage, CallFailed | CatalogueIncomplete> {
    for (let attempt = 1; ; attempt++) {
      const answer = yield* page(range, after, limit)
      if (answer.missing.length === 0) return answer
      if (attempt === partialAttemptsMax) return yield* incomplete(answer.missing)
      yield* Effect.sleep(partialPause)
    }
  })

  return {
    /** Applies events to a partition once and answers their outputs as JSON. */
    request: (
      options: ServiceCallOptions & {
        readonly application: string
        readonly key: string
        readonly events: ReadonlyArray<unknown>
        readonly writeConcern: WriteConcern
      }
    ): Effect.Effect<ReadonlyArray<unknown>, CallFailed> => {
      const { application, events, key, writeConcern, ...call } = options
      return Effect.map(
        requestCall(
          { application, key, events, writeConcern, hops: [] },
          { deadline: settings.writeDeadline, ...call }
        ),
        ({ outputs }) => outputs
      )
    },
    /** The projected state of a partition as JSON; null when it has none. */
    read: (address: {
      readonly application: string
      readonly key: string
    }): Effect.Effect<unknown, CallFailed> =>
      Effect.map(readCall({ ...address, hops: [] }), ({ state }) => state),
    /** One page, which may be partial. */
    page,
    /** The first page of a walk, complete or a typed failure. */
    firstPage: (range: IndexRange, limit: number) => completePage(range, Option.none(), limit),
    /** A whole walk in order; fails where key ranges are missing for longer than a moment. */
    walk: (range: IndexRange): Stream.Stream<FoundRecord, CallFailed | CatalogueIncomplete> =>
      Stream.paginate(Option.none<IndexCursor>(), (after) =>
        Effect.map(completePage(range, after, settings.pageSize), ({ next, records }) => [
          records,
          Option.map(next, Option.some)
        ])
      )
  }
})

/** The peers as a program sees them: any one of them answers. */
export class PeerClient extends Context.Service<
  PeerClient,
  Effect.Success<typeof makePeerClient>
>()("@holdfast/client/PeerClient") {
  static readonly layer = Layer.effect(this, makePeerClient)
}
