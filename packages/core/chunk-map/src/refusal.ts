/** What the chunk map refuses, as values. */
import * as Result from "effect/Result"

/** The kinds of refusal. */
export type RefusalCode =
  | "invalid-request"
  | "not-ready"
  | "not-enough-devices"
  | "no-space"
  | "overloaded"
  | "unknown-file"
  | "no-such-chunk"
  | "missing"
  | "corrupt"
  | "unknown-lease"
  | "lease-expired"
  | "too-few-copies"
  | "stale-version"
  | "unknown-device"
  | "device-live-elsewhere"
  | "device-in-use"
  | "stale-incarnation"
  | "stale-epoch"
  | "out-of-order"
  | "ids-exhausted"

/** A refusal: a code for programs, a sentence for people, when to try again. */
export interface Refusal {
  readonly _tag: "Refusal"
  readonly code: RefusalCode
  readonly message: string
  readonly retryAfterMs: number | null
}

/** A refused outcome. */
export const refuse = (
  code: RefusalCode,
  message: string,
  retryAfterMs: number | null = null
): Result.Result<never, Refusal> => Result.fail({ _tag: "Refusal", code, message, retryAfterMs })
