/**
 * Submits requests again that cannot count as they stand: in their order, each under its own id, so
 * that it counts once whoever brings it.
 */
import type { EventId, Participant } from "@holdfast/power-state"
import { ServiceError } from "@holdfast/wire"
import { Result } from "effect"
import { refusalOf } from "./refusals.ts"
import type { PendingRequest, Replica } from "./replica.ts"

/** What came of it. */
export interface SubmittedAgain {
  readonly replica: Replica
  /** How many were not known before. */
  readonly count: number
  /** The last entry that stands for one of them; null where all are folded, or there is none. */
  readonly last: EventId | null
}

const unnamed = new ServiceError({
  code: "different-origins",
  message: "an event without a request id cannot be submitted again: it might count twice"
})

/** Submits them as `issuer`: all, or nothing where one is refused. */
export const submitAgain = (
  replica: Replica,
  requests: ReadonlyArray<PendingRequest>,
  { issuer, pendingMax = Infinity }: { readonly issuer: Participant; readonly pendingMax?: number }
): Result.Result<SubmittedAgain, ServiceError> => {
  let before: SubmittedAgain = { replica, count: 0, last: null }
  for (const { events, request } of requests) {
    if (request === null) return Result.fail(unnamed)
    const applied = before.replica.apply({ issuer, events, request, pendingMax })
    if (Result.isFailure(applied)) return Result.fail(refusalOf(applied.failure))
    const { id, replica: after } = applied.success
    before = {
      replica: after,
      count: before.count + (after === before.replica ? 0 : 1),
      last: id ?? before.last
    }
  }
  return Result.succeed(before)
}
