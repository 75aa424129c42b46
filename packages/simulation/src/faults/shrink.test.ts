import { assert, describe, it } from "@effect/vitest"
import type { Fault, FaultPlan } from "./fault.ts"
import { shrinkPlan } from "./shrink.ts"

const planOf = (count: number): FaultPlan =>
  Array.from({ length: count }, (_, atMillis): Fault => ({
    _tag: "PowerCut",
    atMillis,
    forMillis: 1
  }))
const timesOf = (plan: FaultPlan) => plan.map(({ atMillis }) => atMillis)
const needs =
  (...times: ReadonlyArray<number>) =>
  (plan: FaultPlan) =>
    times.every((time) => timesOf(plan).includes(time))

describe("shrinking", () => {
  for (const needed of [[], [0], [6], [2, 5], [0, 3, 6], [0, 1, 2, 3, 4, 5, 6]]) {
    it(`keeps ${JSON.stringify(needed)} of seven faults and nothing else`, () => {
      assert.deepStrictEqual(timesOf(shrinkPlan(planOf(7), needs(...needed), 100)), needed)
    })
  }

  it("gives what it has when its tries are used up", () => {
    let tries = 0
    const stillBreaks = (plan: FaultPlan) => {
      tries += 1
      return needs(2, 5)(plan)
    }
    const plan = shrinkPlan(planOf(7), stillBreaks, 3)
    assert.isTrue(needs(2, 5)(plan))
    assert.strictEqual(tries, 3)
  })
})
