/** What goes into a tracker and what it answers: plain data. */
import type { Brand } from "effect"
import type { Refusal } from "./limits.ts"
import type { Outcome } from "./outcome.ts"
import type { PartSetView } from "./part-set.ts"

/**
 * A record's arrival number within one tracker: dense, from 0. It identifies the record; the
 * position is its payload, so that gaps and numbers of any size need no arithmetic.
 */
export type Ordinal = number & Brand.Brand<"@holdfast/disposition/Ordinal">

/** Names an arrival number as one. */
export const asOrdinal = (value: number): Ordinal => value as Ordinal

/** A record as it arrives from its source. */
export interface Arrival {
  /** Where the record stands in its shard, at least 0; strictly increasing but for repeats. */
  readonly position: bigint
  /** Its size, counted against the limit on bytes; a safe integer, at least 0. */
  readonly bytes: number
  /** Milliseconds on the caller's monotonic clock; only ever subtracted. */
  readonly seenAt: number
  /** The number of parts when it is known up front; 0 finishes the record at once. */
  readonly parts?: number
}

/** What became of an arrival. */
export type Admission =
  /** It is new: hand it on under this ordinal. */
  | { readonly _tag: "Admitted"; readonly ordinal: Ordinal }
  /** It is new here, and an earlier run finished some of its parts: hand on only the others. */
  | { readonly _tag: "Resumed"; readonly ordinal: Ordinal; readonly finished: PartSetView }
  /** It is in flight already; it joins that entry and is not handed on again. */
  | { readonly _tag: "Repeated"; readonly ordinal: Ordinal }
  /** It is finished: earlier, by the restored map, or because it has no parts. */
  | { readonly _tag: "Finished" }
  /** It was not admitted, and nothing changed. */
  | { readonly _tag: "Refused"; readonly refusal: Refusal }
  /** The tracker is fenced: the shard belongs to somebody else. */
  | { readonly _tag: "Stale" }

/** What a failure report changed, or why it does not count. */
export type FailureOutcome =
  /** The attempt that failed among those of its kind, from 1, and how many there were in all. */
  | { readonly _tag: "Failing"; readonly attempt: number; readonly attempts: number }
  | { readonly _tag: "Ignored"; readonly outcome: Exclude<Outcome, "Finished" | "Counted"> }

/** How a record that will not succeed is laid aside. */
export type Settlement = "skipped" | "dead-lettered"

/** An unfinished record as seen from outside. */
export interface UnfinishedRecord {
  readonly ordinal: Ordinal
  readonly position: bigint
  readonly seenAt: number
  readonly bytes: number
  /** Unfinished parts and their total; none while the total is unknown. */
  readonly parts: { readonly missing: number; readonly total: number } | undefined
  /** The highest number of failed attempts of one of its items, but for outages. */
  readonly failedAttempts: number
  /** The highest number of attempts of one of its items that an outage ended. */
  readonly outages: number
}

/** How often an item was tried in vain: through its own fault, and through an outage. */
export interface AttemptCount {
  readonly failed: number
  readonly outages: number
}

/** The attempts at the items of one record, by the index of the part or -1 for the whole. */
export type Attempts = Map<number, AttemptCount>

/** Counts since the tracker was made; each only rises. */
export interface Counters {
  /** Records that became entries, restored ones included. */
  readonly admitted: number
  /** Entries that finished, however. */
  readonly finished: number
  /** Parts that were reported as done or laid aside. */
  readonly partsFinished: number
  /** Entries that the restored map finished. */
  readonly restored: number
  /** Arrivals of records already in flight or finished. */
  readonly repeatedArrivals: number
  /** Reports of what was known. */
  readonly repeatedReports: number
  readonly unknownReports: number
  readonly staleReports: number
  readonly protocolFaults: number
  /** Failed attempts. */
  readonly failures: number
  /** Records and parts that were laid aside. */
  readonly skipped: number
  readonly deadLettered: number
  /** Arrivals refused at a limit. */
  readonly refusals: number
}

/** Counters at their start, for the tracker to raise. */
export const noCounts = (): { -readonly [Name in keyof Counters]: number } => ({
  admitted: 0,
  finished: 0,
  partsFinished: 0,
  restored: 0,
  repeatedArrivals: 0,
  repeatedReports: 0,
  unknownReports: 0,
  staleReports: 0,
  protocolFaults: 0,
  failures: 0,
  skipped: 0,
  deadLettered: 0,
  refusals: 0
})

/** Where a tracker stands. */
export interface Standing {
  /** Everything up to here is finished; none when nothing is. */
  readonly lowWatermark: bigint | undefined
  /** The newest admitted position; none when nothing was. */
  readonly newest: bigint | undefined
  readonly span: number
  readonly records: number
  readonly items: number
  readonly bytes: number
  /** Finished records that wait for an older one. */
  readonly finishedAbove: number
  /** Unfinished records of which an attempt failed. */
  readonly failing: number
  readonly oldest: UnfinishedRecord | undefined
  readonly counters: Counters
}
