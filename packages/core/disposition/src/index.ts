/**
 * Accounts for every record of a shard until it has a disposition, and says how far the shard may
 * be checkpointed.
 */
export { BrokenInvariant } from "./assertion.ts"
export { checkpoint, type Progress } from "./checkpoint.ts"
export {
  type Bits,
  type CompletionMap,
  emptyMap,
  highestClaim,
  type PartialRecord,
  type PositionStatus,
  type Runs,
  statusOf,
  withFinished
} from "./completion-map.ts"
export { invariants, type Violation } from "./invariants.ts"
export { defaultLimits, Limits, type ReachedLimit, type Refusal } from "./limits.ts"
export { decodeMap, type DecodeMapOptions, MapRefused } from "./map-decode.ts"
export { defaultMaximumMapBytes, type EncodedMap, encodeMap } from "./map-encode.ts"
export { type Outcome, type PartReport, protocolFaults } from "./outcome.ts"
export { hasPart, partsOf, type PartSetView } from "./part-set.ts"
export {
  type Decision,
  decide,
  defaultErrorPolicy,
  ErrorPolicy,
  Exhausted,
  type Failure,
  retryDelayMs,
  RetrySchedule
} from "./policy.ts"
export { Tracker, type TrackerOptions } from "./tracker.ts"
export type {
  Admission,
  Arrival,
  Counters,
  FailureOutcome,
  Ordinal,
  Settlement,
  Standing,
  UnfinishedRecord
} from "./tracker-types.ts"
