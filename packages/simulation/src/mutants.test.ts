import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { coreMutants } from "./mutant/core.ts"
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

  it(
    "inside a core, too, whose sources are changed as they are loaded",
    { timeout: 120_000 },
    () => {
      const program = fileURLToPath(new URL("hunt-core-mutant.ts", import.meta.url))
      const found = execFileSync(
        process.execPath,
        [
          "--conditions=@holdfast/source",
          program,
          "the deletion of a stale copy is forgotten",
          "3"
        ],
        { encoding: "utf8" }
      )
      assert.deepStrictEqual(JSON.parse(found), { runs: 1, invariant: "chunk-map-digest" })
    }
  )

  for (const { edits, name } of coreMutants) {
    it(`has its place in the sources: ${name}`, () => {
      for (const { file, from } of edits) {
        const source = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")
        assert.lengthOf(source.split(from), 2, `${file}: ${from}`)
      }
    })
  }

  it("under a name of its own", () => {
    const names = [...mutants, ...coreMutants].map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    assert.deepStrictEqual(
      quick.filter((name) => !names.includes(name)),
      []
    )
  })
})
