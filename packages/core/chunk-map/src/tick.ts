/** What time alone brings about: silence, expiry, safe mode, and a slice of each pass. */
import { planBalance } from "./balance.ts"
import { expireVerifications } from "./bad-copies.ts"
import { expireCopies } from "./copies.ts"
import type { Draft } from "./draft.ts"
import { settleFreed } from "./free.ts"
import { expireLeases } from "./lease.ts"
import { judgeSilence } from "./liveness.ts"
import { repackWhenDue } from "./repack.ts"
import { planRepair } from "./repair.ts"
import { judgeSafeMode } from "./safe-mode.ts"
import { sweepChunks } from "./sweep.ts"
import { sweepOdd, sweepUnknown } from "./sweep-odd.ts"

const SETTLED_A_TICK = 1_000

/**
 * Lets time pass; called several times a second, never less often than `stallMs`. While the journal
 * takes nothing, what would need it is left out.
 */
export const tick = (draft: Draft): void => {
  judgeSilence(draft)
  expireLeases(draft)
  judgeSafeMode(draft)
  expireCopies(draft)
  expireVerifications(draft)
  sweepOdd(draft)
  if (!draft.canWrite) return
  draft.scalars.freedSweepAt = settleFreed(draft, draft.scalars.freedSweepAt, SETTLED_A_TICK)
  sweepUnknown(draft)
  sweepChunks(draft)
  repackWhenDue(draft)
  planRepair(draft)
  planBalance(draft)
}
