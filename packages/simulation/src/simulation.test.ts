/** A fixed budget of seeds over all profiles; `HOLDFAST_SIMULATION_SECONDS` sets another one. */
import { assert, describe, it } from "@effect/vitest"
import { profiles } from "./profile.ts"
import { simulate } from "./simulate.ts"

const budgetSeconds = Number(process.env["HOLDFAST_SIMULATION_SECONDS"] ?? "60")
const firstSeed = 1_000
const runsMax = 10_000

/** Processor time, so that a busy machine does not look like a slow cluster. */
const processorSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000_000
}

describe("clusters under faults", () => {
  for (const profile of profiles) {
    it(`keep every invariant: ${profile.name}`, { timeout: 600_000 }, () => {
      const begin = processorSeconds()
      const share = budgetSeconds / profiles.length
      const { found, runs } = simulate({
        seed: firstSeed,
        runs: runsMax,
        profile: profile.name,
        isEnough: () => processorSeconds() - begin > share
      })
      const told = found && [found.violation, found.plan, found.replay, found.trace.slice(-40)]
      assert.isUndefined(found, JSON.stringify(told, null, 2))
      assert.isAbove(runs, 0)
    })
  }
})
