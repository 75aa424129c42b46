/** What an oracle is: it watches, looks from time to time, and judges at the end. */
import type { Effect } from "effect"
import type { Watch } from "../cluster/watch.ts"

/** An oracle; each part may be left out. */
export interface Oracle {
  readonly watch?: Partial<Watch>
  /** A cheap look, several times a virtual second. */
  readonly step?: () => void
  /** What is not as it should be once nothing is wrong any more; empty when all is well. */
  readonly unsettled?: () => ReadonlyArray<string>
  /** The judgement after everything has settled. */
  readonly final?: Effect.Effect<void>
}
