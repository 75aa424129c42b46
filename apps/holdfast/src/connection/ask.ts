/** Calls one operation of a service once, within a deadline that a person would wait. */
import type { Messaging } from "@holdfast/messaging"
import { type CallError, makeCaller, makeRequestId, type Operation } from "@holdfast/wire"
import { Effect } from "effect"

const deadline = "5 seconds"

/** Prepares an operation; each call has a fresh request id. */
export const ask = <Request, Response>(operation: Operation<Request, Response>) => {
  const call = makeCaller(operation)
  return Effect.fnUntraced(function* (options: {
    readonly cluster: string
    readonly instance?: string
    readonly request: Request
  }): Effect.fn.Return<Response, CallError, Messaging> {
    const requestId = yield* makeRequestId
    const { response } = yield* call({ ...options, deadline, requestId })
    return response
  })
}
