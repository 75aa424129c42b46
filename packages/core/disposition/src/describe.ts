/** Unfinished records as seen from outside: for alarms, status and the report of a stuck flush. */
import { asOrdinal, type UnfinishedRecord } from "./tracker-types.ts"
import { slotOpen, totalUnknown, type Window } from "./window.ts"

type Failures = ReadonlyMap<number, ReadonlyMap<number, number>>

/** One open record of the window. */
export const describe = (window: Window, failures: Failures, ordinal: number): UnfinishedRecord => {
  const slot = ordinal & window.mask
  const total = window.totals[slot] ?? totalUnknown
  const attempts = failures.get(ordinal)
  return {
    ordinal: asOrdinal(ordinal),
    position: window.positionAt(ordinal),
    seenAt: window.seenAt[slot] ?? 0,
    bytes: window.bytes[slot] ?? 0,
    parts: total === totalUnknown ? undefined : { missing: window.remaining[slot] ?? 0, total },
    failedAttempts: attempts === undefined ? 0 : highest(attempts.values())
  }
}

/** The open records of the window, oldest first, at most `limit`. */
export const describeOpen = (
  window: Window,
  failures: Failures,
  limit: number
): ReadonlyArray<UnfinishedRecord> => {
  const found: Array<UnfinishedRecord> = []
  for (let ordinal = window.head; ordinal < window.next && found.length < limit; ordinal++) {
    if (window.stateAt(ordinal) === slotOpen) found.push(describe(window, failures, ordinal))
  }
  return found
}

const highest = (values: Iterable<number>): number => {
  let maximum = 0
  for (const value of values) if (value > maximum) maximum = value
  return maximum
}
