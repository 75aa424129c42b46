/** Unfinished records as seen from outside: for alarms, status and the report of a stuck flush. */
import { asOrdinal, type Attempts, type UnfinishedRecord } from "./tracker-types.ts"
import { slotOpen, totalUnknown, type Window } from "./window.ts"

type Failures = ReadonlyMap<number, Attempts>

/** One open record of the window. */
export const describe = (window: Window, failures: Failures, ordinal: number): UnfinishedRecord => {
  const slot = ordinal & window.mask
  const total = window.totals[slot] ?? totalUnknown
  const attempts = [...(failures.get(ordinal)?.values() ?? [])]
  return {
    ordinal: asOrdinal(ordinal),
    position: window.positionAt(ordinal),
    seenAt: window.seenAt[slot] ?? 0,
    bytes: window.bytes[slot] ?? 0,
    parts: total === totalUnknown ? undefined : { missing: window.remaining[slot] ?? 0, total },
    failedAttempts: attempts.reduce((most, { failed }) => Math.max(most, failed), 0),
    outages: attempts.reduce((most, { outages }) => Math.max(most, outages), 0)
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
