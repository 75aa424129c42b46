/**
 * Many runs, one seed after the other, up to the first violation; its plan is made as small as can
 * be before it is reported.
 */
import { type Fault, type FaultPlan, printFault } from "./faults/fault.ts"
import { shrinkPlan } from "./faults/shrink.ts"
import { type Profile, profileNamed, profiles } from "./profile.ts"
import { planOf, run, type RunResult } from "./run.ts"
import type { Seams } from "./cluster/seams.ts"
import type { Violation } from "./violation.ts"

/** What to simulate. */
export interface SimulateOptions {
  /** The first seed; the others follow it. */
  readonly seed: number
  readonly runs: number
  /** A profile's name, or `all`: each seed then has its own. */
  readonly profile: string
  /** Told of each run as it ends. */
  readonly onProgress?: (progress: Progress) => void
  /** Ends it early, between two runs. */
  readonly isEnough?: () => boolean
  /** Faults of a plan to run in place of those that the seed draws: their numbers, from 0. */
  readonly only?: ReadonlyArray<number>
  readonly seams?: Seams
  /** Runs at most so many smaller plans after a violation; 40. */
  readonly shrinkTriesMax?: number
}

/** One run that has ended. */
export interface Progress {
  readonly seed: number
  readonly profile: string
  readonly run: number
  readonly runs: number
  readonly violation: Violation | undefined
  readonly virtualMillis: number
}

/** A broken invariant and how to see it again. */
export interface Found {
  readonly seed: number
  readonly profile: string
  readonly violation: Violation
  /** The smallest plan that was found to break it, one fault a line. */
  readonly plan: ReadonlyArray<string>
  /** The events of the run with that plan, the newest, one a line. */
  readonly trace: ReadonlyArray<string>
  /** The command that replays it. */
  readonly replay: string
}

/** What simulating came to. */
export interface SimulateResult {
  readonly runs: number
  readonly virtualMillis: number
  readonly events: number
  readonly found: Found | undefined
}

/** No profile has this name. */
export class UnknownProfile extends Error {
  override readonly name = "UnknownProfile"
}

const traceLines = 4_000

const profilesOf = (name: string): ReadonlyArray<Profile> => {
  if (name === "all") return profiles
  const profile = profileNamed(name)
  if (profile !== undefined) return [profile]
  const names = profiles.map((each) => each.name).join(", ")
  throw new UnknownProfile(`There is no profile "${name}"; there are ${names}, and all.`)
}

const numbersOf = (plan: FaultPlan, smaller: FaultPlan): ReadonlyArray<number> =>
  smaller.map((fault: Fault) => plan.indexOf(fault))

const describe = (options: SimulateOptions, profile: Profile, first: RunResult): Found => {
  const seams = options.seams === undefined ? {} : { seams: options.seams }
  const again = (plan: FaultPlan) => run({ seed: first.seed, profile, plan, ...seams })
  const smallest = shrinkPlan(
    first.plan,
    (plan) => again(plan).violation?.invariant === first.violation?.invariant,
    options.shrinkTriesMax ?? 40
  )
  const last = again(smallest)
  const violation = last.violation ?? first.violation
  if (violation === undefined) throw new Error("there is nothing to describe")
  const only = numbersOf(first.plan, smallest).join(",") || "none"
  return {
    seed: first.seed,
    profile: profile.name,
    violation,
    plan: smallest.map(printFault),
    trace: last.trace.slice(-traceLines),
    replay: `holdfast simulate --seed ${first.seed} --profile ${profile.name} --only ${only}`
  }
}

const planFor = (options: SimulateOptions, drawn: FaultPlan): FaultPlan =>
  options.only === undefined
    ? drawn
    : options.only.flatMap((number) => {
        const fault = drawn[number]
        return fault === undefined ? [] : [fault]
      })

/** Runs simulations until one breaks an invariant, or all have run. */
export const simulate = (options: SimulateOptions): SimulateResult => {
  const chosen = profilesOf(options.profile)
  let [runs, virtualMillis, events] = [0, 0, 0]
  while (runs < options.runs && options.isEnough?.() !== true) {
    const seed = options.seed + runs
    const profile = chosen[seed % chosen.length]
    if (profile === undefined) break
    const seams = options.seams === undefined ? {} : { seams: options.seams }
    const plan = planFor(options, planOf(seed, profile))
    const result = run({ seed, profile, plan, ...seams })
    runs += 1
    virtualMillis += result.virtualMillis
    events += result.events
    const { violation } = result
    const progress = { seed, profile: profile.name, run: runs, runs: options.runs, violation }
    options.onProgress?.({ ...progress, virtualMillis: result.virtualMillis })
    if (violation === undefined) continue
    return { runs, virtualMillis, events, found: describe(options, profile, result) }
  }
  return { runs, virtualMillis, events, found: undefined }
}
