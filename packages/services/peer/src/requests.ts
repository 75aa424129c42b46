/**
 * What clients ask about one partition: to apply events, to read it.
 *
 * 1. A write is answered when it is durable here, and held by as many as its concern asks for.
 */
import type { PartitionKey } from "@holdfast/keyspace"
import type { Messaging } from "@holdfast/messaging"
import type { EventId } from "@holdfast/power-state"
import { PeerOperations, ServiceError } from "@holdfast/wire"
import { Cause, Effect, Exit, Option, Result } from "effect"
import type { Address } from "./address.ts"
import type { JobBody } from "./job.ts"
import type { Attempt } from "./passing.ts"
import { makePassing } from "./passing.ts"
import { countOutcome, requestsTotal } from "./metrics.ts"
import { refusalOf } from "./refusals.ts"
import { withOwners } from "./replication-steps.ts"
import type { SenderContext } from "./sender.ts"
import { stateRoom } from "./sender.ts"
import { awaitConcern } from "./write-concern.ts"

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

interface Written {
  readonly outputs: ReadonlyArray<unknown>
  readonly id: EventId | null
  readonly participants: number
}

const noOwner = (address: Address): ServiceError =>
  new ServiceError({
    code: "not-an-owner",
    message: `this peer does not own ${address.application}/${address.key}`
  })

/** A partition that no message can carry would have no other holder: the write is refused. */
const tooLarge = ({ application, key }: Address, room: number): ServiceError =>
  new ServiceError({
    code: "partition-too-large",
    message: `${application}/${key} would be over ${room} bytes; spread its events over more keys`
  })

const writeStep =
  (context: SenderContext, request: ClientRequest, requestId: string): JobBody<Written> =>
  (local, resident) => {
    const { ownership, settings } = context
    const address = { application: request.application, key: request.key }
    const known = local ?? ownership.birthOf(address)
    if (known === null) return Result.fail(noOwner(address))
    // Owners are let in before the write: one that came behind it would count as a holder of what
    // was folded without it.
    const base = withOwners(known, address, ownership)
    const applied = base.apply({
      issuer: ownership.self,
      events: request.events,
      request: requestId,
      pendingMax: settings.limits.pendingMax
    })
    if (Result.isFailure(applied)) return Result.fail(refusalOf(applied.failure))
    const { id, outputs, replica } = applied.success
    const next = replica === base ? base : withOwners(replica, address, ownership)
    const room = stateRoom(context)
    if (next !== local && next.bytes().length > room) return Result.fail(tooLarge(address, room))
    if (next !== local) resident.isWriter = true
    const participants = Math.max(next.participants().length, context.membership.copiesWanted)
    return Result.succeed({ replica: next, value: { outputs, id, participants } })
  }

const runLocal = Effect.fnUntraced(function* (
  context: SenderContext,
  request: ClientRequest,
  attempt: Attempt
): Effect.fn.Return<ClientReply, ServiceError> {
  const address = { application: request.application, key: request.key }
  const body = writeStep(context, request, attempt.requestId)
  const written = yield* context.engine.submit(address, body)
  const heldBy = yield* awaitConcern(context.engine.table, address, {
    ...written,
    concern: request.writeConcern,
    expiresAt: attempt.deadlineAt
  })
  return { outputs: written.outputs, heldBy }
})

const outcomeOf = (exit: Exit.Exit<unknown, ServiceError>): string => {
  if (Exit.isSuccess(exit)) return "ok"
  const error = Option.getOrNull(Cause.findErrorOption(exit.cause))
  return error?.code ?? "interrupted"
}

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
        runLocal: (local) =>
          Effect.onExit(runLocal(context, request, local), (exit) =>
            countOutcome(requestsTotal, outcomeOf(exit))
          )
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
