/** Calls of the JetStream API with typed failures, none of which outlives a lost connection. */
import { JetStreamApiError } from "@nats-io/jetstream"
import { PermissionViolationError, TimeoutError } from "@nats-io/transport-node"
import { Effect } from "effect"
import type { ManagedConnection } from "./managed-connection.ts"
import { textOf } from "./nats-error.ts"

/**
 * Why a call failed. `conflict`: a compare-and-set lost. `full`: the store or account is at its
 * limit. `not-found`: no such stream; `no-message`, `no-consumer`: none in it. `unsupported`: no
 * JetStream for this account. `refused`: the server understood and said no. `unavailable` may pass.
 */
export type JetStreamFailureKind =
  | "conflict"
  | "denied"
  | "full"
  | "no-consumer"
  | "no-message"
  | "not-found"
  | "refused"
  | "too-large"
  | "unavailable"
  | "unsupported"

/** A failed call, with a sentence. */
export interface JetStreamFailure {
  readonly kind: JetStreamFailureKind
  readonly message: string
}

/** How long the server may take for one call. */
export const callDeadlineMs = 5_000

const kindOfCode: ReadonlyMap<number, JetStreamFailureKind> = new Map([
  [10071, "conflict"],
  [10164, "conflict"],
  [10014, "no-consumer"],
  [10037, "no-message"],
  [10059, "not-found"],
  [10039, "unsupported"],
  [10076, "unsupported"],
  [10023, "full"],
  [10028, "full"],
  [10047, "full"],
  [10077, "full"],
  [10122, "full"],
  [10054, "too-large"],
  [10008, "unavailable"],
  [10009, "unavailable"]
])

/** The typed failure for anything that the client library threw. */
export const toJetStreamFailure = (thrown: unknown): JetStreamFailure => {
  const error = apiErrorOf(thrown)
  if (error !== undefined) return failureOfCode(error.code, error.status, error.message)
  const cause = thrown instanceof Error ? thrown.cause : undefined
  if (thrown instanceof PermissionViolationError || cause instanceof PermissionViolationError) {
    return { kind: "denied", message: `the server does not permit it: ${textOf(thrown)}` }
  }
  if (thrown instanceof TimeoutError) {
    return { kind: "unavailable", message: "JetStream did not answer in time" }
  }
  if (/max_payload/.test(textOf(thrown))) return { kind: "too-large", message: textOf(thrown) }
  return { kind: "unavailable", message: `JetStream cannot be asked: ${textOf(thrown)}` }
}

/** The typed failure for an error of the JetStream API, by its own code and its status. */
export const failureOfCode = (
  code: number,
  status: number,
  description: string
): JetStreamFailure => ({
  kind: kindOfCode.get(code) ?? (status >= 500 ? "unavailable" : "refused"),
  message: `JetStream answered: ${description} (${code})`
})

const apiErrorOf = (thrown: unknown): JetStreamApiError | undefined => {
  if (thrown instanceof JetStreamApiError) return thrown
  return thrown instanceof Error && thrown.cause instanceof JetStreamApiError
    ? thrown.cause
    : undefined
}

const lost: JetStreamFailure = {
  kind: "unavailable",
  message: "the connection to NATS is lost and being restored"
}

/** Runs a call; it fails at once when the connection is lost before or meanwhile. */
export const callJetStream = <A>(
  connection: ManagedConnection,
  call: () => Promise<A>
): Effect.Effect<A, JetStreamFailure> =>
  Effect.callback<A, JetStreamFailure>((resume) => {
    if (connection.state() !== "connected") return resume(Effect.fail(lost))
    const remove = connection.onChange(() => resume(Effect.fail(lost)))
    // A call that throws before its promise exists is a failed call as well.
    new Promise<A>((resolve) => resolve(call()))
      .then(
        (value) => resume(Effect.succeed(value)),
        (thrown: unknown) => resume(Effect.fail(toJetStreamFailure(thrown)))
      )
      .finally(remove)
    return Effect.sync(remove)
  })
