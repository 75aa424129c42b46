/**
 * Whole clusters of the real services on memory adapters, under virtual time and faults, from one
 * seed.
 */
export { Fault, FaultPlan, printFault } from "./faults/fault.ts"
export { type Mutant, mutants } from "./mutants.ts"
export { type Profile, profileNamed, profiles } from "./profile.ts"
export { planOf, run, type RunOptions, type RunResult } from "./run.ts"
export { type Seam, type Seams, soundSeams } from "./cluster/seams.ts"
export {
  type Found,
  type Progress,
  simulate,
  type SimulateOptions,
  type SimulateResult,
  UnknownProfile
} from "./simulate.ts"
export { describeFound } from "./report-found.ts"
export type { Violation } from "./violation.ts"
