import { assert, describe, it } from "@effect/vitest"
import { soundSeams } from "./cluster/seams.ts"
import { mutants } from "./mutants.ts"
import { simulate } from "./simulate.ts"

const brokenSeams = () => {
  const mutant = mutants.find(({ name }) => name === "a device serves damaged bytes")
  if (mutant === undefined) throw new Error("there is no such mutant")
  return { ...soundSeams, ...mutant.seams }
}

describe("simulating", () => {
  it("reports a violation with the smallest plan and the way to see it again", () => {
    const seen: Array<number> = []
    const { found, runs } = simulate({
      seed: 6,
      runs: 5,
      profile: "chunks",
      seams: brokenSeams(),
      onProgress: ({ seed }) => seen.push(seed)
    })
    assert.strictEqual(found?.violation.invariant, "wrong-bytes")
    assert.deepStrictEqual(found.plan, [], "no fault is needed for it")
    assert.strictEqual(
      found.replay,
      `holdfast simulate --seed ${found.seed} --profile chunks --only none`
    )
    assert.include(found.trace.join("\n"), "VIOLATION wrong-bytes")
    assert.strictEqual(seen.length, runs)
    const again = simulate({
      seed: found.seed,
      runs: 1,
      profile: "chunks",
      seams: brokenSeams(),
      only: []
    })
    assert.deepStrictEqual(again.found, found)
  }, 120_000)

  it("names the profiles when there is none of a name", () => {
    assert.throws(
      () => simulate({ seed: 1, runs: 1, profile: "chunk" }),
      'There is no profile "chunk"; there are archive, chunks, peers, members, workers, stages, mixed, room, and all.'
    )
  })
})
