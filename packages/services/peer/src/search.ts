/**
 * Searches over the whole key space.
 *
 *     question ──▶ few live peers that own all keys ──▶ pages ──▶ one page, strictly ascending
 *                        └─ late, failed or not complete: the next replica of just those keys
 *
 * 1. Every key is asked of a peer that holds it completely, or is named as missing.
 * 2. The page ascends strictly, and holds everything up to its `next` of the keys not missing.
 * 3. Equal searches under way share one answer.
 */
import type { Assignment, PeerId } from "@holdfast/keyspace"
import { KeySet, serviceSet } from "@holdfast/keyspace"
import type { Messaging } from "@holdfast/messaging"
import type { Page } from "@holdfast/tag-index"
import { after, mergePages, PartitionKey } from "@holdfast/tag-index"
import { makeCaller, makeRequestId, PeerOperations, type ServiceError } from "@holdfast/wire"
import { Deferred, Effect, Random, Result } from "effect"
import type { LocalAnswer, LocalQuestion } from "./local-search.ts"
import { keySetOf } from "./local-search.ts"
import { monotonicMillis } from "./monotonic.ts"
import type { SenderContext } from "./sender.ts"

/** A search of a client. */
export type SearchRequest = Omit<LocalQuestion, "ranges">

/** The answer to a client. */
export interface SearchReply {
  readonly records: ReadonlyArray<PeerOperations.FoundRecord>
  readonly next?: PeerOperations.IndexCursor
  readonly missing: ReadonlyArray<readonly [string, string]>
}

type LocalSearch = (question: LocalQuestion) => Effect.Effect<LocalAnswer, ServiceError>

/** What was found for some keys. */
interface Found {
  readonly answers: ReadonlyArray<LocalAnswer>
  readonly missing: KeySet
}

const callLocal = makeCaller(PeerOperations.searchLocal)

const together = (founds: ReadonlyArray<Found>): Found => ({
  answers: founds.flatMap(({ answers }) => answers),
  missing: KeySet.unions(founds.map(({ missing }) => missing))
})

const recordText = ({ key, tag }: { readonly tag: Uint8Array; readonly key: string }): string =>
  `${key}${String.fromCharCode(...tag)}`

const pageOf = ({ more, records }: LocalAnswer): Page => {
  const own = records.map(({ key, tag }) => ({ tag, key: PartitionKey.make(key) }))
  const last = own.at(-1)
  return { records: own, next: more && last !== undefined ? after(last) : undefined }
}

/** One page out of the answers. */
const mergeAnswers = ({ answers, missing }: Found, limit: number): SearchReply => {
  const states = new Map<string, PeerOperations.FoundRecord>()
  for (const { records } of answers) {
    for (const record of records) states.set(recordText(record), record)
  }
  const { next, records } = mergePages({ pages: answers.map(pageOf), limit })
  const found = records.map((record) => states.get(recordText(record)) ?? record)
  return next === undefined
    ? { records: found, missing }
    : { records: found, next: { tag: next.tag, key: next.key }, missing }
}

/** Makes the function that asks the peers. */
const makeAsking = (context: SenderContext, localSearch: LocalSearch) => {
  const { membership, settings, view } = context

  const ask = Effect.fnUntraced(function* (
    search: SearchRequest,
    { keys, peer }: Assignment,
    deadlineAt: number
  ) {
    const question: LocalQuestion = { ...search, ranges: keys }
    if (peer === view.self.peer) return yield* localSearch(question)
    const { response } = yield* callLocal({
      cluster: settings.cluster,
      instance: peer,
      request: question,
      deadline: Math.max(1, deadlineAt - (yield* monotonicMillis)),
      requestId: yield* makeRequestId,
      sender: view.self.peer,
      epoch: membership.epoch
    })
    return response
  })

  /** Whom to ask: peers that live, and for keys that none of them owns also the others. */
  const assign = Effect.fnUntraced(function* (wanted: KeySet, tried: ReadonlySet<PeerId>) {
    const untried = (peers: ReadonlySet<PeerId>) =>
      new Set([...peers].filter((peer) => !tried.has(peer)))
    const random = yield* Random.nextIntBetween(0, 0x7fff_ffff)
    const { distribution } = membership
    const first = serviceSet({ distribution, live: untried(view.live()), random, wanted })
    if (KeySet.isEmpty(first.missing)) return first
    const last = serviceSet({
      distribution,
      live: untried(view.down()),
      random,
      wanted: first.missing
    })
    return { assignments: [...first.assignments, ...last.assignments], missing: last.missing }
  })

  const resolve = (
    search: SearchRequest,
    wanted: KeySet,
    tried: ReadonlySet<PeerId>,
    deadlineAt: number
  ): Effect.Effect<Found, never, Messaging> =>
    Effect.gen(function* () {
      if (KeySet.isEmpty(wanted)) return { answers: [], missing: wanted }
      const { assignments, missing } = yield* assign(wanted, tried)
      const founds = yield* Effect.forEach(
        assignments,
        (assignment) => hedged(search, assignment, tried, deadlineAt),
        { concurrency: "unbounded" }
      )
      return together([...founds, { answers: [], missing }])
    })

  /** Asks one peer; when it is late or fails, the next replica of its keys, too. */
  const hedged = (
    search: SearchRequest,
    assignment: Assignment,
    tried: ReadonlySet<PeerId>,
    deadlineAt: number
  ): Effect.Effect<Found, never, Messaging> => {
    const { keys, peer } = assignment
    const elsewhere = (some: KeySet) => resolve(search, some, new Set([...tried, peer]), deadlineAt)
    const primary = Effect.flatMap(
      Effect.result(ask(search, assignment, deadlineAt)),
      (answer): Effect.Effect<Found, Found, Messaging> => {
        if (Result.isFailure(answer)) return Effect.fail({ answers: [], missing: keys })
        const found = { answers: [answer.success], missing: KeySet.empty }
        return Effect.map(elsewhere(keySetOf(answer.success.notServed)), (rest) =>
          together([found, rest])
        )
      }
    )
    const hedge = Effect.flatMap(
      Effect.suspend(() => elsewhere(keys)),
      (found) => (KeySet.isEmpty(found.missing) ? Effect.succeed(found) : Effect.fail(found))
    )
    const late = Effect.andThen(Effect.sleep(settings.times.hedgeMillis), hedge)
    const firstFailed = Effect.catch(primary, () => hedge)
    return Effect.race(firstFailed, late).pipe(
      Effect.timeoutOrElse({
        duration: settings.times.requestMillis,
        orElse: () => Effect.succeed({ answers: [], missing: keys })
      }),
      Effect.catch((found) => Effect.succeed(found))
    )
  }
  return resolve
}

const shareKey = (search: SearchRequest): string =>
  JSON.stringify([
    search.application,
    Array.from(search.from),
    Array.from(search.upTo),
    search.after === undefined ? null : [search.after.key, Array.from(search.after.tag)],
    search.limit,
    search.withState
  ])

/** Makes the function that answers `search`. */
export const makeSearch = (context: SenderContext, localSearch: LocalSearch) => {
  const resolve = makeAsking(context, localSearch)
  const underWay = new Map<string, Deferred.Deferred<SearchReply>>()
  return (
    search: SearchRequest,
    deadlineAt: number
  ): Effect.Effect<SearchReply, never, Messaging> =>
    Effect.suspend(() => {
      const key = shareKey(search)
      const known = underWay.get(key)
      if (known !== undefined) return Deferred.await(known)
      const answer = Deferred.makeUnsafe<SearchReply>()
      underWay.set(key, answer)
      return resolve(search, KeySet.full, new Set(), deadlineAt).pipe(
        Effect.map((found) => mergeAnswers(found, search.limit)),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            underWay.delete(key)
            Deferred.doneUnsafe(answer, exit)
          })
        )
      )
    })
}
