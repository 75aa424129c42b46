/** What must hold of a tracker at any time; tests, the simulator and a running worker ask it. */
import type { Tracker } from "./tracker.ts"
import { slotFinished, slotFree, slotOpen, totalUnknown } from "./window.ts"

/** A rule that does not hold, in words, with what was found. */
export interface Violation {
  readonly rule: string
  readonly found: string
}

/** The rules that a tracker breaks; none in a sound one. O(capacity + parts). */
export const invariants = (tracker: Tracker): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  const check = (holds: boolean, rule: string, found: string): void => {
    if (!holds) violations.push({ rule, found })
  }
  const { window } = tracker
  const standing = tracker.standing
  const sums = { records: 0, items: 0, bytes: 0, large: 0 }
  let before = tracker.lowWatermark ?? -1n
  for (let ordinal = window.head; ordinal < window.next; ordinal++) {
    const slot = ordinal & window.mask
    const position = window.positionAt(ordinal)
    check(position > before, "positions strictly increase", `${before} then ${position}`)
    before = position
    const state = window.stateAt(ordinal)
    check(state !== slotFree, "a slot of the window is in use", `ordinal ${ordinal}`)
    if (state !== slotOpen) continue
    const parts = window.partsOf(slot)
    const remaining = parts === undefined ? 1 : parts.total - countBits(parts.words)
    sums.records += 1
    sums.items += remaining
    sums.bytes += window.bytes[slot] ?? 0
    if (window.large.has(slot)) sums.large += 1
    check(remaining > 0, "an open record misses something", `ordinal ${ordinal}`)
    check(
      window.totals[slot] === totalUnknown || window.remaining[slot] === remaining,
      "the missing parts are counted",
      `${window.remaining[slot]} instead of ${remaining}`
    )
  }
  const { limits } = tracker
  const state = window.span === 0 ? slotOpen : window.stateAt(window.head)
  check(state !== slotFinished, "the oldest record is unfinished", `ordinal ${window.head}`)
  check(window.span <= limits.span, "the span is within its limit", `${window.span}`)
  check(sums.records <= limits.records, "records are within their limit", `${sums.records}`)
  check(
    window.large.size === sums.large,
    "part sets belong to open records",
    `${window.large.size}`
  )
  check(tracker.failures.size <= sums.records, "failures are of open records", "more")
  for (const name of ["records", "items", "bytes"] as const) {
    const found = `${standing[name]} instead of ${sums[name]}`
    check(standing[name] === sums[name], `the ${name} in flight are counted`, found)
  }
  return violations
}

const countBits = (words: Readonly<Uint32Array>): number => {
  let count = 0
  for (let word of words) for (; word !== 0; word &= word - 1) count += 1
  return count
}
