/**
 * Passes what clients ask to an owner of the key: this peer, or another.
 *
 * 1. A request has one id on all its ways, so it counts once however often it is tried.
 * 2. It ends by its deadline: with an answer, or with a typed refusal.
 * 3. The peers it has passed travel with it; one that sees itself among them refuses. Who took it
 *    from the client tries again then, after a pause.
 */
import type { PeerId } from "@holdfast/keyspace"
import { keyRotation, route } from "@holdfast/keyspace"
import type { Messaging } from "@holdfast/messaging"
import { makeCaller, type Operation, type PeerOperations, ServiceError } from "@holdfast/wire"
import { Effect, Result } from "effect"
import type { Address } from "./address.ts"
import { monotonicMillis } from "./monotonic.ts"
import type { SenderContext } from "./sender.ts"

/** A request under way. */
export interface Attempt {
  readonly requestId: string
  /** Monotonic milliseconds. */
  readonly deadlineAt: number
}

/** What another try, here or at the next owner, may turn into an answer while there is time. */
const RETRIED = new Set([
  "write-concern-not-met",
  "overloaded",
  "shutting-down",
  "timeout",
  "internal",
  "damaged",
  "storage-full",
  "storage-unavailable",
  "not-an-owner",
  // Two peers that know different distributions pass it to and fro, until they know the same.
  "forward-loop",
  "no-route",
  "fenced",
  "left",
  "ejected"
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
  const { membership, settings, view } = context
  const hop = () => ({ peer: view.self.peer, epoch: membership.epoch })

  const isPassed = (hops: ReadonlyArray<PeerOperations.Hop>, peer: PeerId): boolean =>
    hops.some((each) => each.peer === peer && each.epoch === membership.epoch)

  const refuseLoop = (hops: ReadonlyArray<PeerOperations.Hop>) => {
    if (!isPassed(hops, view.self.peer)) return Effect.void
    const way = hops.map((each) => each.peer).join(", ")
    const message = `the request came back to ${view.self.peer} by ${way}`
    return Effect.fail(new ServiceError({ code: "forward-loop", message }))
  }

  /** Whom to try, in order; an owner that was handed the request by another tries only itself. */
  const candidates = (address: Address, hops: ReadonlyArray<PeerOperations.Hop>) =>
    Result.flatMap(
      Result.mapError(
        route({
          distribution: membership.distribution,
          key: address.key,
          rotation: keyRotation(address.key),
          first: view.self.peer,
          last: view.down()
        }),
        ({ message }) => new ServiceError({ code: "no-route", message })
      ),
      (named) => {
        const owners = named.filter((peer) => membership.members.includes(peer))
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
                    request: passing.request([...hops, hop()]),
                    deadline: slice,
                    requestId: attempt.requestId,
                    sender: view.self.peer,
                    epoch: membership.epoch
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
