/**
 * Hunts every deliberate mistake: `npm run simulate:mutants -- [runs] [words]`. One line each: how
 * many runs it took, and by which invariant it showed. Those inside cores run in processes of their
 * own, for each has its own sources.
 */
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import { coreMutants } from "./mutant/core.ts"
import { hunt, mutants } from "./mutants.ts"

const [runsText = "50", words = ""] = process.argv.slice(2)
const runsMax = Number(runsText)

interface Outcome {
  readonly runs: number
  readonly invariant?: string | undefined
}

const readOutcome = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({ runs: Schema.Int, invariant: Schema.optionalKey(Schema.String) })
  )
)

const program = fileURLToPath(new URL("hunt-core-mutant.ts", import.meta.url))

const huntInCore = (name: string): Outcome =>
  readOutcome(
    execFileSync(process.execPath, [...process.execArgv, program, name, runsText], {
      encoding: "utf8"
    })
  )

let missed = 0
const tell = (mutant: { readonly name: string; readonly profile: string }, outcome: Outcome) => {
  const { invariant, runs } = outcome
  if (invariant === undefined) missed += 1
  const how = invariant === undefined ? `not in ${runs} runs` : `run ${runs}: ${invariant}`
  process.stdout.write(`${how.padEnd(36)}${mutant.name} (${mutant.profile})\n`)
}

for (const mutant of mutants.filter(({ name }) => name.includes(words))) {
  tell(mutant, hunt(mutant, 1, runsMax))
}
for (const mutant of coreMutants.filter(({ name }) => name.includes(words))) {
  tell(mutant, huntInCore(mutant.name))
}
process.exitCode = missed === 0 ? 0 : 1
