/**
 * Calls to services: one request id for all attempts, pauses that grow, a deadline for the whole.
 *
 * 1. A call ends within its deadline, with a response or a `CallFailed`.
 * 2. All attempts carry the same request id, so that the service acts once.
 * 3. Only what may succeed later is tried again, not before the service said so.
 */
import { Messaging, MessagingError } from "@holdfast/messaging"
import {
  type CallError,
  type CallResult,
  makeCaller,
  makeRequestId,
  type Operation,
  ProtocolError,
  ServiceError
} from "@holdfast/wire"
import { Clock, Duration, Effect, Random, Result } from "effect"
import { CallFailed } from "./errors.ts"
import { ClientConfig, type ClientSettings } from "./settings.ts"

/** What one call may say differently. */
export interface ServiceCallOptions {
  /** The same id makes it the same request, also after a crash of this process. */
  readonly requestId?: string | undefined
  /** For all attempts together. */
  readonly deadline?: Duration.Input | undefined
  /** One instance by its id instead of any. */
  readonly instance?: string | undefined
  /** Errors that may pass but are not waited for: the caller knows something better to do. */
  readonly unawaited?: ReadonlyArray<string> | undefined
}

/** A prepared operation. */
export type ServiceCall<Request, Response> = (
  request: Request,
  options?: ServiceCallOptions
) => Effect.Effect<Response, CallFailed>

const pauseFirstMs = 25
const pauseMaxMs = 1_000
const codesThatPass = new Set([
  "overloaded",
  "shutting-down",
  "timeout",
  "not-ready",
  "no-route",
  "forward-loop",
  "pending-full",
  "write-concern-not-met"
])

/** Whether the same request may succeed later. */
const mayPass = (error: CallError): boolean => {
  if (error instanceof ServiceError) {
    return error.retryAfterMs !== undefined || codesThatPass.has(error.code)
  }
  return error instanceof MessagingError && error.isRetryable
}

const codeOf = (error: CallError): string =>
  error instanceof ProtocolError ? "protocol" : error.code

const waitHint = (error: CallError): number =>
  error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0

const failureOf = (
  operation: { readonly service: string; readonly name: string },
  error: CallError
): CallFailed =>
  new CallFailed({
    service: operation.service,
    operation: operation.name,
    code: codeOf(error),
    retryable: mayPass(error),
    message: `${operation.service} ${operation.name}: ${error.message}`
  })

const millisUntil = (deadlineNanos: bigint) =>
  Effect.map(Clock.monotonicTimeNanos, (now) => Number(deadlineNanos - now) / 1_000_000)

/** Prepares calls of operations with the client's settings. */
export const makeServiceCaller = Effect.gen(function* () {
  const settings: ClientSettings = yield* ClientConfig
  const messaging = yield* Messaging
  const attemptMs = Duration.toMillis(Duration.fromInputUnsafe(settings.attemptDeadline))

  return <Request, Response>(
    operation: Operation<Request, Response>
  ): ServiceCall<Request, Response> => {
    const call = makeCaller(operation)
    const once = (
      request: Request,
      options: ServiceCallOptions & { readonly requestId: string; readonly deadlineMs: number }
    ): Effect.Effect<CallResult<Response>, CallError> =>
      call({
        cluster: settings.cluster,
        request,
        requestId: options.requestId,
        deadline: Duration.millis(options.deadlineMs),
        ...(options.instance === undefined ? {} : { instance: options.instance }),
        ...(settings.sender === undefined ? {} : { sender: settings.sender })
      }).pipe(Effect.provideService(Messaging, messaging))

    return Effect.fnUntraced(function* (
      request: Request,
      options: ServiceCallOptions = {}
    ): Effect.fn.Return<Response, CallFailed> {
      const requestId = options.requestId ?? (yield* makeRequestId)
      const whole = Duration.fromInputUnsafe(options.deadline ?? settings.callDeadline)
      const deadline =
        (yield* Clock.monotonicTimeNanos) + BigInt(Duration.toMillis(whole)) * 1_000_000n
      for (let attempt = 0; ; attempt++) {
        const leftMs = Math.max(1, yield* millisUntil(deadline))
        const deadlineMs = Math.min(attemptMs, leftMs)
        const outcome = yield* Effect.result(once(request, { ...options, requestId, deadlineMs }))
        if (Result.isSuccess(outcome)) return outcome.success.response
        const error = outcome.failure
        const growing = Math.min(pauseMaxMs, pauseFirstMs * 2 ** Math.min(attempt, 10))
        const jittered = growing * (0.5 + (yield* Random.next))
        const pauseMs = Math.max(jittered, waitHint(error))
        const isAwaited = mayPass(error) && options.unawaited?.includes(codeOf(error)) !== true
        if (!isAwaited || pauseMs >= (yield* millisUntil(deadline))) {
          return yield* failureOf(operation, error)
        }
        yield* Effect.sleep(Duration.millis(pauseMs))
      }
    })
  }
})
