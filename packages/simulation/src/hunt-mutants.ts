/**
 * Hunts every deliberate mistake: `npm run simulate:mutants -- [runs] [words]`. One line each: how
 * many runs it took, and by which invariant it showed.
 */
import { hunt, mutants } from "./mutants.ts"

const [runsText = "50", words = ""] = process.argv.slice(2)

let missed = 0
for (const mutant of mutants.filter(({ name }) => name.includes(words))) {
  const { invariant, runs } = hunt(mutant, 1, Number(runsText))
  if (invariant === undefined) missed += 1
  const outcome = invariant === undefined ? `not in ${runs} runs` : `run ${runs}: ${invariant}`
  process.stdout.write(`${outcome.padEnd(36)}${mutant.name} (${mutant.profile})\n`)
}
process.exitCode = missed === 0 ? 0 : 1
