/**
 * Which worker owns which shard: observed leases, expiry by the observer's own clock, acquisition
 * and balance.
 */
export type { Claim, ClaimTable, Holding, ObservedClaim, StoredClaim } from "./claim.ts"
export { decide, type LeaseAction, type Situation } from "./decide.ts"
export { invariants, type Violation } from "./invariants.ts"
export { emptyTable, hasLapsed, observe, observeOne } from "./observe.ts"
export {
  asked,
  firstClaim,
  mayAct,
  paused,
  raised,
  released,
  renewed,
  takenOver,
  unclaimed
} from "./ownership.ts"
