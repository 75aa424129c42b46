/**
 * Requests of clients: run here if this peer owns the key, else passed on to one that does.
 *
 * 1. A request has one id on all its ways, so it counts once however often it is tried.
 * 2. It ends by its deadline: with an answer, or with a typed refusal.
 * 3. The peers it has passed travel with it; one that sees itself among them refuses.
 */
import type { PartitionKey, PeerId } from "@holdfast/keyspace"
import { keyRotation, route } from "@holdfast/keyspace"
import { Messaging } from "@holdfast/messaging"
import type { EventId } from "@holdfast/power-state"
import { makeCaller, type Operation, PeerOperations, ServiceError } from "@holdfast/wire"
import { Deferred, Effect, Result } from "effect"
import type { Address } from "./address.ts"
import type { JobBody } from "./job.ts"
import { monotonicMillis } from "./monotonic.ts"
import { refusalOf } from "./refusals.ts"
import { withOwners } from "./replication-steps.ts"
import type { SenderContext } from "./sender.ts"

/** What a client asks. */
export interface ClientRequest {
  readonly application: string
  readonly key: PartitionKey
  readonly events: ReadonlyArray<unknown>
  readonly writeConcern: PeerOperations.WriteConcern
  readonly hops: ReadonlyArray<PeerOperations.Hop>
}

/** What a client is answered. */
export interface ClientReply {
  readonly outputs: ReadonlyArray<unknown>
  readonly heldBy: number
}

/** A request under way. */
export interface Attempt {
  readonly requestId: string
  /** Monotonic milliseconds. */
  readonly deadlineAt: number
}

interface Written {
  readonly outputs: ReadonlyArray<unknown>
  readonly id: EventId | null
  readonly participants: number
}

/** How many must hold a write; never more than there are. */
export const holdersNeeded = (
  concern: PeerOperations.WriteConcern,
  participants: number
): number => {
  switch (concern) {
    case "local":
      return Math.min(1, participants)
    case "one-more":
      return Math.min(2, participants)
    case "majority":
      return Math.floor(participants / 2) + 1
    case "all":
      return participants
  }
}

const noOwner = (address: Address): ServiceError =>
  new ServiceError({
    code: "not-an-owner",
    message: `this peer does not own ${address.application}/${address.key}`
  })

const writeStep =
  (context: SenderContext, request: ClientRequest, requestId: string): JobBody<Written> =>
  (local, resident) => {
    const { ownership, settings } = context
    const address = { application: request.application, key: request.key }
    const base = local ?? ownership.birthOf(address)
    if (base === null) return Result.fail(noOwner(address))
    const applied = withOwners(base, address, ownership).apply({
      issuer: ownership.self,
      events: request.events,
      request: requestId,
      pendingMax: settings.limits.pendingMax
    })
    if (Result.isFailure(applied)) return Result.fail(refusalOf(applied.failure))
    const { id, outputs, replica } = applied.success
    const next = replica === local ? replica : withOwners(replica, address, ownership)
    if (next !== local) resident.isWriter = true
    const participants = next.participants().length
    return Result.succeed({ replica: next, value: { outputs, id, participants } })
  }

/** Waits until so many participants hold an entry; says how many do at the end of the wait. */
const awaitHolders = Effect.fnUntraced(function* (
  context: SenderContext,
  address: Address,
  written: Written,
  options: { readonly needed: number; readonly waitMillis: number }
) {
  const { id, participants } = written
  const resident = context.engine.table.find(address)
  if (id === null) return participants
  const count = resident?.current?.holders(id).length ?? 0
  if (resident === undefined || count >= options.needed) return Math.max(count, 1)
  const reached = Deferred.makeUnsafe<number>()
  const waiter = {
    id,
    needed: options.needed,
    reached: (holders: number) => {
      Deferred.doneUnsafe(reached, Effect.succeed(holders))
    }
  }
  resident.waiters.add(waiter)
  return yield* Deferred.await(reached).pipe(
    Effect.timeoutOrElse({
      duration: Math.max(0, options.waitMillis),
      orElse: () => Effect.sync(() => resident.current?.holders(id).length ?? 1)
    }),
    Effect.ensuring(Effect.sync(() => resident.waiters.delete(waiter)))
  )
})

const concernNotMet = (held: number, needed: number): ServiceError =>
  new ServiceError({
    code: "write-concern-not-met",
    message:
      `the write is held by ${held} of the ${needed} participants asked for; ` +
      "it stays, and spreads when the others are back: repeat it with the same request id"
  })

const runLocal = Effect.fnUntraced(function* (
  context: SenderContext,
  request: ClientRequest,
  attempt: Attempt
): Effect.fn.Return<ClientReply, ServiceError> {
  const address = { application: request.application, key: request.key }
  const body = writeStep(context, request, attempt.requestId)
  const written = yield* context.engine.submit(address, body)
  const needed = holdersNeeded(request.writeConcern, written.participants)
  const now = yield* monotonicMillis
  const waitMillis = attempt.deadlineAt - now
  const heldBy = yield* awaitHolders(context, address, written, { needed, waitMillis })
  if (heldBy < needed) return yield* concernNotMet(heldBy, needed)
  return { outputs: written.outputs, heldBy }
})

const RETRIED = new Set([
  "overloaded",
  "shutting-down",
  "timeout",
  "internal",
  "damaged",
  "storage-full",
  "storage-unavailable",
  "not-an-owner",
  "fenced"
])
const SLICE_MILLIS_MIN = 250
const ROUND_PAUSE_MILLIS = 100

/** What passing on needs to know of an operation. */
interface Passing<Request, Response> {
  readonly operation: Operation<Request, Response>
  readonly request: (hops: ReadonlyArray<PeerOperations.Hop>) => Request
  readonly runLocal: (attempt: Attempt) => Effect.Effect<Response, ServiceError>
}

/** Makes the function that runs an operation here or on an owner, until the deadline. */
export const makePassing = (context: SenderContext) => {
  const { settings, view } = context
  const hop = { peer: view.self.peer, epoch: settings.distribution.epoch }

  const isPassed = (hops: ReadonlyArray<PeerOperations.Hop>, peer: PeerId): boolean =>
    hops.some((each) => each.peer === peer && each.epoch === hop.epoch)

  const refuseLoop = (hops: ReadonlyArray<PeerOperations.Hop>) => {
    if (!isPassed(hops, view.self.peer)) return Effect.void
    const way = hops.map((each) => each.peer).join(", ")
    const message = `the request came back to ${hop.peer} by ${way}`
    return Effect.fail(new ServiceError({ code: "forward-loop", message }))
  }

  /** Whom to try, in order; an owner that was handed the request by another tries only itself. */
  const candidates = (address: Address, hops: ReadonlyArray<PeerOperations.Hop>) =>
    Result.flatMap(
      Result.mapError(
        route({
          distribution: settings.distribution,
          key: address.key,
          rotation: keyRotation(address.key),
          first: view.self.peer,
          last: view.down()
        }),
        ({ message }) => new ServiceError({ code: "no-route", message })
      ),
      (owners) => {
        const isHandedOn = hops.length > 0 && owners.includes(view.self.peer)
        const left = owners.filter((peer) =>
          isHandedOn ? peer === view.self.peer : !isPassed(hops, peer)
        )
        const message = "the request has passed every owner of its key"
        return left.length > 0
          ? Result.succeed(left)
          : Result.fail(new ServiceError({ code: "no-route", message }))
      }
    )

  return <Request, Response>(
    operation: Operation<Request, Response>
  ): ((
    passing: Omit<Passing<Request, Response>, "operation">,
    address: Address,
    hops: ReadonlyArray<PeerOperations.Hop>,
    attempt: Attempt
  ) => Effect.Effect<Response, ServiceError, Messaging>) => {
    const call = makeCaller(operation)
    return Effect.fnUntraced(function* (passing, address, hops, attempt) {
      yield* refuseLoop(hops)
      let last = new ServiceError({ code: "timeout", message: "no owner answered in time" })
      for (let round = 0; ; round += 1) {
        const owners = candidates(address, hops)
        if (Result.isFailure(owners)) return yield* owners.failure
        for (const [index, peer] of owners.success.entries()) {
          const remaining = attempt.deadlineAt - (yield* monotonicMillis)
          if (remaining <= 0) return yield* last
          const left = owners.success.length - index
          const slice = Math.min(remaining, Math.max(SLICE_MILLIS_MIN, remaining / left))
          const result = yield* Effect.result(
            peer === view.self.peer
              ? passing.runLocal(attempt)
              : Effect.map(
                  call({
                    cluster: settings.cluster,
                    instance: peer,
                    request: passing.request([...hops, hop]),
                    deadline: slice,
                    requestId: attempt.requestId,
                    sender: view.self.peer,
                    epoch: settings.distribution.epoch
                  }),
                  ({ response }) => response
                )
          )
          if (Result.isSuccess(result)) return result.success
          last = asRefusal(result.failure, peer)
          if (!RETRIED.has(last.code)) return yield* last
        }
        // The peer that passed it on tries the other owners itself.
        if (hops.length > 0) return yield* last
        const pause = Math.min(ROUND_PAUSE_MILLIS * (round + 1), 1_000)
        const remaining = attempt.deadlineAt - (yield* monotonicMillis)
        if (remaining <= pause) return yield* last
        yield* Effect.sleep(pause)
      }
    })
  }
}

const asRefusal = (
  failure: ServiceError | { readonly _tag: string; readonly message: string },
  peer: PeerId
): ServiceError =>
  failure instanceof ServiceError
    ? failure
    : new ServiceError({ code: "timeout", message: `${peer} did not answer: ${failure.message}` })

/** Makes the handler of `request`. */
export const makeRequests = (context: SenderContext) => {
  const pass = makePassing(context)(PeerOperations.request)
  return (
    request: ClientRequest,
    attempt: Attempt
  ): Effect.Effect<ClientReply, ServiceError, Messaging> =>
    pass(
      {
        request: (hops) => ({ ...request, hops }),
        runLocal: (local) => runLocal(context, request, local)
      },
      request,
      request.hops,
      attempt
    )
}

/** Makes the handler of `read`. */
export const makeReads = (context: SenderContext) => {
  const pass = makePassing(context)(PeerOperations.read)
  return (
    request: Omit<ClientRequest, "events" | "writeConcern">,
    attempt: Attempt
  ): Effect.Effect<{ readonly state: unknown }, ServiceError, Messaging> =>
    pass(
      {
        request: (hops) => ({ application: request.application, key: request.key, hops }),
        runLocal: () =>
          context.engine.submit(request, (replica) =>
            Result.succeed({ replica, value: { state: replica?.projected() ?? null } })
          )
      },
      request,
      request.hops,
      attempt
    )
}
