import { assert, describe, it } from "@effect/vitest"
import { profiles } from "./profile.ts"
import { run } from "./run.ts"

describe("a run", () => {
  for (const profile of profiles) {
    it(`of ${profile.name} is the same for the same seed, event by event`, () => {
      const [first, second] = [run({ seed: 7, profile }), run({ seed: 7, profile })]
      assert.deepStrictEqual(second, first)
      assert.isAbove(first.events, 1_000)
    }, 120_000)
  }

  it("is another for another seed", () => {
    const [profile] = profiles
    if (profile === undefined) throw new Error("there is no profile")
    const [first, second] = [
      run({ seed: 1, profile, plan: [] }),
      run({ seed: 2, profile, plan: [] })
    ]
    assert.notStrictEqual(second.traceDigest, first.traceDigest)
  }, 120_000)
})
