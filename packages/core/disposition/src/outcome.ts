/** What a report can change, and what can be wrong with it. */
import type { Limits } from "./limits.ts"

/**
 * What a report changed.
 *
 * - `Finished`: this report finished its record. `Counted`: a part, and others are missing.
 * - `Repeated`: it was known; nothing changed.
 * - `Unknown`: no such ordinal was ever given out: a fault of the reporter worth failing on.
 * - `Stale`: it belongs to another epoch, or the tracker is fenced; nothing changed.
 * - `PartsExpected`: a whole report on a record whose parts are counted.
 * - `TotalMismatch`: another total than the one declared or first reported.
 * - `PartOutOfRange`: not an index of `0 .. total - 1`. `TooManyParts`: over the limit.
 *
 * The last four are protocol faults: the record stays unfinished and the error policy decides.
 */
export type Outcome =
  | "Finished"
  | "Counted"
  | "Repeated"
  | "Unknown"
  | "Stale"
  | "PartsExpected"
  | "TotalMismatch"
  | "PartOutOfRange"
  | "TooManyParts"

/** The outcomes that are the reporter's fault and leave the record unfinished. */
export const protocolFaults: ReadonlySet<Outcome> = new Set<Outcome>([
  "PartsExpected",
  "TotalMismatch",
  "PartOutOfRange",
  "TooManyParts"
])

/** One part of a record. */
export interface PartReport {
  /** From 0. */
  readonly index: number
  /** How many parts the record has. */
  readonly total: number
}

/** What is wrong with a part report, given the total that is known or -1; none when nothing is. */
export const partFault = (
  knownTotal: number,
  { index, total }: PartReport,
  limits: Limits
): Extract<Outcome, "TotalMismatch" | "PartOutOfRange" | "TooManyParts"> | undefined => {
  if (knownTotal >= 0 && knownTotal !== total) return "TotalMismatch"
  if (!Number.isSafeInteger(total) || total < 1) return "PartOutOfRange"
  if (total > limits.partsPerRecord) return "TooManyParts"
  if (!Number.isSafeInteger(index) || index < 0 || index >= total) return "PartOutOfRange"
  return undefined
}
