/**
 * The observer's table: when each claim was last seen to change.
 *
 * Written times are never compared with anything: the clocks of two machines agree on nothing. A
 * claim lapses when this observer has seen it stand still for the term, by its own monotonic clock.
 */
import { Option } from "effect"
import type { Claim, ClaimTable, ObservedClaim, StoredClaim } from "./claim.ts"

/** An observer that has seen nothing. */
export const emptyTable: ClaimTable = new Map()

/** The table after a full listing at `now`; claims that are not listed are forgotten. O(claims). */
export const observe = (
  table: ClaimTable,
  listing: ReadonlyArray<StoredClaim>,
  now: number
): ClaimTable => new Map(listing.map((stored) => [stored.record.shard, seen(table, stored, now)]))

/** The table after one claim was read or written at `now`. O(claims). */
export const observeOne = (table: ClaimTable, stored: StoredClaim, now: number): ClaimTable =>
  new Map(table).set(stored.record.shard, seen(table, stored, now))

const seen = (table: ClaimTable, stored: StoredClaim, now: number): ObservedClaim => {
  const before = table.get(stored.record.shard)
  if (before === undefined) return { ...stored, changedAt: now, markedAt: now }
  // A listing may be older than what this observer wrote or read since it was asked for.
  if (before.revision > stored.revision) return before
  const isSame = isSameBeat(before.record, stored.record)
  const isSameMark = isSameName(before.record.wantedBy, stored.record.wantedBy)
  return {
    ...stored,
    changedAt: isSame ? before.changedAt : now,
    markedAt: isSameMark ? before.markedAt : now
  }
}

const isSameBeat = (one: Claim, other: Claim): boolean =>
  one.epoch === other.epoch && one.beat === other.beat && isSameName(one.owner, other.owner)

const isSameName = (one: Option.Option<string>, other: Option.Option<string>): boolean =>
  Option.getOrUndefined(one) === Option.getOrUndefined(other)

/** Whether an observed claim has stood still for the term. */
export const hasLapsed = (claim: ObservedClaim, now: number, termMs: number): boolean =>
  now - claim.changedAt >= termMs
