/** Runs one seed of each profile and prints what the digests of their events are, as JSON. */
import { profiles } from "../profile.ts"
import { run } from "../run.ts"

const seed = Number(process.argv[2])
const digests = profiles.map((profile) => {
  const { events, steps, traceDigest } = run({ seed, profile })
  return [profile.name, traceDigest, events, steps]
})
process.stdout.write(JSON.stringify(digests))
