/** The KPL aggregated record format, both ways, by the rules of the KCL. */
export {
  type Added,
  type Addition,
  type Full,
  partitionKeyCharactersMax,
  type TooLarge,
  type Unfit
} from "./addition.ts"
export {
  Aggregator,
  type AggregatorContents,
  type AggregatorOptions,
  type Outgoing,
  type OutgoingFormat
} from "./aggregator.ts"
export { BrokenInvariant } from "./assertion.ts"
export {
  type Aggregate,
  deaggregator,
  type Deaggregated,
  type Deaggregator,
  type DeaggregatorOptions,
  type Dropped
} from "./deaggregate.ts"
export type { Format } from "./format.ts"
export { hashKeyMax, type HashRange, hashRange, HashRangeInvalid } from "./hash-range.ts"
export { invariants, type Violation } from "./invariants.ts"
export { defaultReadLimits, defaultWriteLimits, ReadLimits, WriteLimits } from "./limits.ts"
export { describePlain, type Malformed, type Plain, type PlainReason } from "./plain.ts"
export type { Deflate, Inflate, Md5 } from "./platform.ts"
export type { NewUserRecord, Tag, UserRecord } from "./user-record.ts"
