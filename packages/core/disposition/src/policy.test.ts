import { Result, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { decide, ErrorPolicy, retryDelayMs } from "./policy.ts"

const schedule = { retries: 3, initialMs: 100, factor: 2, maximumMs: 350 }
const retryThen = (exhausted: "halt" | "skip" | "dead-letter"): ErrorPolicy =>
  ErrorPolicy.cases.Retry.make({ schedule, exhausted })

describe("the error policy", () => {
  it.each([
    [1, 100],
    [2, 200],
    [3, 350],
    [50, 350]
  ])("the delay after attempt %d is %d ms", (attempt, delayMs) => {
    expect(retryDelayMs(schedule, attempt)).toBe(delayMs)
  })

  it.each([
    { policy: ErrorPolicy.cases.HaltAtOnce.make({}), attempt: 1, kind: "item", does: "Halt" },
    { policy: retryThen("halt"), attempt: 1, kind: "item", does: "Retry" },
    { policy: retryThen("halt"), attempt: 3, kind: "item", does: "Retry" },
    { policy: retryThen("halt"), attempt: 4, kind: "item", does: "Halt" },
    { policy: retryThen("skip"), attempt: 4, kind: "item", does: "Skip" },
    { policy: retryThen("dead-letter"), attempt: 4, kind: "item", does: "DeadLetter" },
    { policy: retryThen("halt"), attempt: 400, kind: "outage", does: "Retry" },
    { policy: retryThen("halt"), attempt: 1, kind: "protocol", does: "Halt" },
    { policy: retryThen("skip"), attempt: 1, kind: "fatal", does: "Skip" }
  ] as const)("attempt $attempt of kind $kind: $does", ({ attempt, does, kind, policy }) => {
    expect(decide(policy, { attempt, kind })._tag).toBe(does)
  })

  it("a policy that makes no sense is refused", () => {
    const decode = Schema.decodeUnknownResult(ErrorPolicy)
    const bad = { _tag: "Retry", schedule: { ...schedule, factor: 0.5 }, exhausted: "halt" }
    expect(Result.isFailure(decode(bad))).toBe(true)
    expect(Result.isSuccess(decode({ ...bad, schedule }))).toBe(true)
  })
})
