import { assert, describe, it } from "@effect/vitest"
import { hunt, mutants } from "./mutants.ts"

/** Those that show within a few runs; `npm run simulate:mutants` looks for all of them. */
const quick = [
  "the journal forgets what was freed",
  "a device removes another copy than it was told",
  "a device serves damaged bytes",
  "a checkpoint passes a record that is not stored",
  "the source leaves records out without a gap",
  "a merge is answered before it is saved",
  "some commits are acknowledged and not made"
]

describe("a deliberate mistake is found", () => {
  for (const mutant of mutants.filter(({ name }) => quick.includes(name))) {
    it(mutant.name, { timeout: 120_000 }, () => {
      assert.isString(hunt(mutant, 1, 3).invariant)
    })
  }

  it("under a name of its own", () => {
    const names = mutants.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    assert.deepStrictEqual(
      quick.filter((name) => !names.includes(name)),
      []
    )
  })
})
