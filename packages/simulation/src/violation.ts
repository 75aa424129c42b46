/** What an oracle finds: a broken invariant and what shows it. */

/** A broken invariant. */
export interface Violation {
  /** A short name, the same for the same rule. */
  readonly invariant: string
  readonly message: string
  readonly atMillis: number
}

/** Takes what oracles find; the first one ends the run. */
export type Report = (invariant: string, message: string) => void
