import { assert, describe, it } from "vitest"
import * as fc from "fast-check"
import { nodes, runScenario, type Scenario, scenarios } from "./testing/fault-scenario.ts"

const check = (runs: number, property: (scenario: Scenario) => Promise<void>) =>
  fc.assert(fc.asyncProperty(scenarios, property), { numRuns: runs })

const codes = new Set(["timeout", "no-responders", "disconnected", "overloaded", "closed"])

const withoutCrashes = (scenario: Scenario): Scenario => ({
  ...scenario,
  faults: scenario.faults.filter(({ fault }) => fault._tag !== "Crash")
})

describe("the memory network under random faults", () => {
  it("1: every request ends within its deadline, with its own reply or a typed error", () =>
    check(40, async (scenario) => {
      const { outcomes } = await runScenario(scenario)
      for (const [index, { outcome, tookMillis }] of outcomes.entries()) {
        assert.isAtMost(tookMillis, scenario.requests[index]?.deadlineMillis ?? 0)
        assert.isTrue(outcome === `re ${index}` || codes.has(outcome), outcome)
      }
    }))

  it("2: a request is handled as often as it was delivered, at most once without duplication", () =>
    check(40, async (scenario) => {
      const { outcomes, handled, events } = await runScenario(scenario)
      const duplicated = events.filter(({ kind }) => kind === "duplicated").length
      for (const [index, { outcome }] of outcomes.entries()) {
        const times = handled.get(String(index)) ?? 0
        assert.isAtMost(times, duplicated === 0 ? 1 : 2)
        if (outcome.startsWith("re ")) assert.isAtLeast(times, 1)
        if (outcome === "no-responders") assert.strictEqual(times, 0)
      }
    }))

  it("4: a listener never runs more handlers than it may", () =>
    check(40, async (scenario) => {
      // A crashed node's handlers may still end while those of its successor begin.
      const crashes = scenario.faults.filter(({ fault }) => fault._tag === "Crash").length
      const { mostRunning } = await runScenario(scenario)
      assert.isAtMost(mostRunning, scenario.concurrency * (1 + crashes))
    }))

  it("6: while no node crashes, everything that was delivered and not refused is handled", () =>
    check(60, async (scenario) => {
      const { handled, events } = await runScenario(withoutCrashes(scenario))
      const count = (kinds: ReadonlyArray<string>) =>
        events.filter(
          ({ kind, subject, to }) =>
            kinds.includes(kind) && subject.startsWith("work.") && to !== ""
        ).length
      const handledTimes = [...handled.values()].reduce((sum, times) => sum + times, 0)
      assert.strictEqual(handledTimes, count(["delivered"]) - count(["overloaded", "unheard"]))
    }))

  it("6: whatever died or crashed before, every node answers once the network is whole", () =>
    check(40, async (scenario) => {
      const { afterwards } = await runScenario(scenario)
      assert.deepStrictEqual(
        afterwards,
        nodes.map(() => "re probe")
      )
    }))

  it("the same seed gives the same events at the same times, and the same outcomes", () =>
    check(40, async (scenario) => {
      assert.deepStrictEqual(await runScenario(scenario), await runScenario(scenario))
    }))
})
