/** A deliberate mistake, and the profile whose runs should show it. */
import type { Seams } from "../cluster/seams.ts"

/** A mistake that is put in at a seam. */
export interface Mutant {
  /** A few words, unique. */
  readonly name: string
  readonly profile: string
  readonly seams: Partial<Seams>
}
