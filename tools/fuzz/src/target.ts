/** A place where hostile input arrives. */
import type { Random } from "./random.ts"

/** One kind of input; a case that throws, hangs or takes too much memory is a fault. */
export interface Target {
  readonly name: string
  /** What of the product takes the input. */
  readonly takes: string
  /** How many turns it has when others have one: for cases that take long. */
  readonly turns?: number
  /** Makes what the cases begin with, before the first of them; no case's time counts it. */
  readonly prepare?: () => Promise<void>
  /** Runs one case; whatever the product answers is right, as long as it answers. */
  readonly run: (random: Random) => unknown
}
