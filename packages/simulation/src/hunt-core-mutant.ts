/**
 * Hunts one mistake inside a core, in a process of its own: its name, and how many runs at most.
 * Prints one line of JSON: the runs it took, and the invariant when it was found.
 */
import { coreMutants } from "./mutant/core.ts"
import { rewriteOnLoad } from "./mutant/rewrite.ts"

const [name, runsText = "50"] = process.argv.slice(2)
const mutant = coreMutants.find((each) => each.name === name)
if (mutant === undefined) throw new Error(`there is no mutant "${name}"`)
const rewriting = rewriteOnLoad(mutant)
// The sources must be loaded through the hook, so not before it is there.
const { simulate } = await import("./simulate.ts")
const unloaded = rewriting.unloaded()
if (unloaded.length > 0) throw new Error(`no simulation loads ${unloaded.join(", ")}`)
const { found, runs } = simulate({
  seed: 1,
  runs: Number(runsText),
  profile: mutant.profile,
  shrinkTriesMax: 0
})
process.stdout.write(`${JSON.stringify({ runs, invariant: found?.violation.invariant })}\n`)
