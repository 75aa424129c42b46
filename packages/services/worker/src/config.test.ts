import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { parseWorkerConfig } from "./config.ts"

const names = { cluster: "c1", worker: "w1" }

const messageOf = (input: Readonly<Record<string, unknown>>): string => {
  const parsed = parseWorkerConfig(input)
  return Result.isFailure(parsed) ? parsed.failure.message : "accepted"
}

describe("the configuration of a worker", () => {
  it("needs two names and has a default for the rest", () => {
    expect(Result.getOrThrow(parseWorkerConfig(names))).toMatchObject({
      batchRecords: 1_024,
      errorPolicy: { _tag: "Retry", exhausted: "halt" }
    })
  })

  it("takes some limits and has defaults for the others", () => {
    const { limits } = Result.getOrThrow(parseWorkerConfig({ ...names, limits: { records: 5 } }))
    expect(limits).toMatchObject({ records: 5, partsPerRecord: 1_000_000 })
  })

  it.each([
    [
      { flushIntervalsMs: 5 },
      'there is no option "flushIntervalsMs"; did you mean "flushIntervalMs"?'
    ],
    [
      { max_pending: 5 },
      /there is no option "max_pending"; there are cluster, worker, group, limits/
    ],
    [{ batchRecords: 0 }, /batchRecords/],
    [{ limits: { records: 0 } }, /limits/],
    [{ limits: { record: 5 } }, 'there is no option "record"; did you mean "records"?'],
    [{ worker: "no spaces please" }, /worker/],
    [
      { leaseTermMs: 2_000 },
      "leaseTermMs is 2000; it must be above leaseMarginMs + leaseRenewalMs, 6000"
    ]
  ])("worker-W31: %j is refused with a sentence", (options, sentence) => {
    expect(messageOf({ ...names, ...options })).toMatch(sentence)
  })
})
