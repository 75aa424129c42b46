/**
 * Serves the peer's operations over Messaging. Clients reach any peer; peers reach one another.
 */
import { PartitionKey } from "@holdfast/keyspace"
import type { Messaging, MessagingError } from "@holdfast/messaging"
import type { LifeEnd } from "./peer-view.ts"
import { PartitionStore } from "@holdfast/storage"
import {
  type Answer,
  type Operation,
  PeerMembershipOperations,
  PeerOperations,
  PeerReplicationOperations,
  type RequestContext,
  serveOperation,
  ServiceError
} from "@holdfast/wire"
import { Duration, Effect, Fiber, Option, type Scope } from "effect"
import { handleCompare } from "./anti-entropy.ts"
import { isCluster } from "./cluster-partition.ts"
import type { LocalAnswer, LocalQuestion } from "./local-search.ts"
import { handleEject, handleJoin, handleLeave, showCluster } from "./membership-handlers.ts"
import { monotonicMillis } from "./monotonic.ts"
import type { Attempt } from "./passing.ts"
import { listPartitions, peerStatus, showPartition } from "./observe.ts"
import type { PeerParts } from "./peer.ts"
import { handleReclaim } from "./reclaim.ts"
import { noSuchApplication } from "./refusals.ts"
import { handleFetch, handleMerge } from "./replication-handlers.ts"
import { makeReads, makeRequests } from "./requests.ts"
import type { SearchReply, SearchRequest } from "./search.ts"

/** The searching parts of a peer. */
export interface Searching {
  readonly localSearch: (question: LocalQuestion) => Effect.Effect<LocalAnswer, ServiceError>
  readonly search: (
    search: SearchRequest,
    deadlineAt: number
  ) => Effect.Effect<SearchReply, never, Messaging>
}

type Handler<Request, Response> = (
  request: Request,
  context: RequestContext
) => Effect.Effect<Answer<Response>, ServiceError, Messaging | PartitionStore>

const endReasons: Readonly<Record<LifeEnd, string>> = {
  fenced: "a later start of it is running",
  left: "it has left the cluster",
  ejected: "it has been ejected from the cluster"
}

const servesNoMore = ({ identity }: PeerParts, end: LifeEnd): ServiceError =>
  new ServiceError({
    code: end,
    message: `this process of ${identity.peer} serves no more: ${endReasons[end]}`
  })

/** Of the caller's time so much is left for the answer to travel. */
const ANSWER_SHARE = 0.2
const ANSWER_MILLIS_MAX = 250

const attemptOf = Effect.fnUntraced(function* (parts: PeerParts, context: RequestContext) {
  const millis = Option.match(context.deadline, {
    onNone: () => parts.settings.times.requestMillis,
    onSome: Duration.toMillis
  })
  const own = millis - Math.min(ANSWER_MILLIS_MAX, millis * ANSWER_SHARE)
  const attempt: Attempt = {
    requestId: context.requestId,
    deadlineAt: (yield* monotonicMillis) + own
  }
  return attempt
})

/**
 * The handlers that run. A stop waits for them in `serve`'s own finalizers; meanwhile, those that
 * take longer than the drain time are interrupted.
 */
const makeRunning = Effect.fnUntraced(function* ({ settings }: PeerParts) {
  const fibers = new Set<Fiber.Fiber<unknown, unknown>>()
  let late: Fiber.Fiber<unknown, unknown> | undefined
  const interruptLate = Effect.andThen(
    Effect.sleep(settings.times.drainMillis),
    Effect.suspend(() => Fiber.interruptAll(fibers))
  )
  // Finalizers run backwards: this one when all that is served has ended.
  yield* Effect.addFinalizer(() => (late === undefined ? Effect.void : Fiber.interrupt(late)))
  return {
    /** Keeps a handler in mind while it runs. */
    track: <A, E, R>(handler: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.withFiber((fiber) => {
        fibers.add(fiber)
        return Effect.onExit(handler, () =>
          Effect.sync(() => {
            fibers.delete(fiber)
          })
        )
      }),
    /** To be run before what is served is closed. */
    beginStop: Effect.map(Effect.forkDetach(interruptLate), (fiber) => {
      late = fiber
    })
  }
})

/** How one operation is served by this peer alone, and, where `isShared`, by any peer. */
const makeServing = Effect.fnUntraced(function* (
  parts: PeerParts,
  track: <A, E, R>(handler: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
) {
  const services = yield* Effect.context<Messaging | PartitionStore>()
  const { requestsMax } = parts.settings.limits
  return <Request, Response>(
    operation: Operation<Request, Response>,
    handler: Handler<Request, Response>,
    isShared: boolean
  ): Effect.Effect<void, MessagingError, Messaging | Scope.Scope> => {
    const options = {
      cluster: parts.settings.cluster,
      concurrency: requestsMax,
      backlog: requestsMax,
      handler: (request: Request, context: RequestContext) =>
        parts.view.end !== null
          ? Effect.fail(servesNoMore(parts, parts.view.end))
          : Effect.provideContext(track(handler(request, context)), services)
    }
    const own = serveOperation(operation, { ...options, instance: parts.identity.peer })
    return isShared ? Effect.andThen(own, serveOperation(operation, options)) : own
  }
})

const hosted = (parts: PeerParts, application: string) =>
  parts.applications.has(application) && !isCluster(application)
    ? Effect.void
    : Effect.fail(noSuchApplication(application))

/** Serves all operations until the scope closes. */
export const servePeer = Effect.fnUntraced(function* (parts: PeerParts, searching: Searching) {
  const running = yield* makeRunning(parts)
  const serve = yield* makeServing(parts, running.track)
  const runRequest = makeRequests(parts)
  const runRead = makeReads(parts)
  const respond = <Response, E, R>(effect: Effect.Effect<Response, E, R>) =>
    Effect.map(effect, (response) => ({ response }))

  yield* serve(PeerReplicationOperations.merge, handleMerge(parts), false)
  yield* serve(PeerReplicationOperations.fetch, handleFetch(parts), false)
  yield* serve(PeerReplicationOperations.compare, handleCompare(parts), false)
  yield* serve(
    PeerOperations.request,
    Effect.fnUntraced(function* (request, context) {
      yield* hosted(parts, request.application)
      const attempt = yield* attemptOf(parts, context)
      const key = PartitionKey.make(request.key)
      return yield* respond(runRequest({ ...request, key }, attempt))
    }),
    true
  )
  yield* serve(
    PeerOperations.read,
    Effect.fnUntraced(function* (request, context) {
      yield* hosted(parts, request.application)
      const attempt = yield* attemptOf(parts, context)
      const key = PartitionKey.make(request.key)
      return yield* respond(runRead({ ...request, key }, attempt))
    }),
    true
  )
  yield* serve(
    PeerOperations.search,
    Effect.fnUntraced(function* (request, context) {
      yield* hosted(parts, request.application)
      const { deadlineAt } = yield* attemptOf(parts, context)
      return yield* respond(searching.search(request, deadlineAt))
    }),
    true
  )
  yield* serve(
    PeerOperations.searchLocal,
    Effect.fnUntraced(function* (request) {
      yield* hosted(parts, request.application)
      return yield* respond(searching.localSearch(request))
    }),
    false
  )
  yield* serve(PeerOperations.peerStatus, () => respond(peerStatus(parts)), true)
  yield* serve(
    PeerOperations.partitions,
    (request) => respond(listPartitions(parts, request)),
    true
  )
  yield* serve(PeerOperations.partition, (request) => respond(showPartition(parts, request)), true)
  yield* serve(PeerMembershipOperations.join, handleJoin(parts), true)
  yield* serve(PeerMembershipOperations.leave, handleLeave(parts), true)
  yield* serve(PeerMembershipOperations.eject, handleEject(parts), true)
  yield* serve(
    PeerMembershipOperations.reclaim,
    Effect.fnUntraced(function* (request, context) {
      yield* hosted(parts, request.application)
      const { deadlineAt } = yield* attemptOf(parts, context)
      return yield* handleReclaim(parts)(request, { ...context, deadlineAt })
    }),
    true
  )
  yield* serve(
    PeerMembershipOperations.cluster,
    () => Effect.sync(() => ({ response: showCluster(parts) })),
    true
  )
  yield* Effect.addFinalizer(() => running.beginStop)
})
