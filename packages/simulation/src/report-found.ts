/** A broken invariant in words, for a person. */
import type { Found } from "./simulate.ts"

/** The lines that tell what was found, with the newest events last. */
export const describeFound = (found: Found, eventsMax = 60): ReadonlyArray<string> => {
  const { plan, profile, replay, seed, trace, violation } = found
  return [
    `seed ${seed} of profile ${profile} breaks "${violation.invariant}"`,
    `  ${violation.message}`,
    `faults, as few as show it:${plan.length === 0 ? " none" : ""}`,
    ...plan.map((fault) => `  ${fault}`),
    `the newest events, in milliseconds:`,
    ...trace.slice(-eventsMax).map((event) => `  ${event}`),
    `again: ${replay}`
  ]
}
