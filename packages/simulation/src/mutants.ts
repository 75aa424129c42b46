/**
 * Deliberate mistakes, each to be found by the oracles within a few seeds: what is not is a hole.
 */
import { soundSeams } from "./cluster/seams.ts"
import { deviceMutants } from "./mutant/device.ts"
import { journalMutants } from "./mutant/journal.ts"
import type { Mutant } from "./mutant/mutant.ts"
import { peerMutants } from "./mutant/peer.ts"
import { workerMutants } from "./mutant/worker.ts"
import { simulate } from "./simulate.ts"

export type { Mutant } from "./mutant/mutant.ts"

/** All of them. */
export const mutants: ReadonlyArray<Mutant> = [
  ...journalMutants,
  ...deviceMutants,
  ...workerMutants,
  ...peerMutants
]

/** How a mistake was found, if it was. */
export interface Hunt {
  readonly mutant: Mutant
  /** Runs until it showed; all of them when it did not. */
  readonly runs: number
  readonly invariant: string | undefined
}

/** Looks for a mistake in so many runs at most. */
export const hunt = (mutant: Mutant, seed: number, runsMax: number): Hunt => {
  const { found, runs } = simulate({
    seed,
    runs: runsMax,
    profile: mutant.profile,
    seams: { ...soundSeams, ...mutant.seams },
    shrinkTriesMax: 0
  })
  return { mutant, runs, invariant: found?.violation.invariant }
}
