/** What a worker may believe about a shard that it claimed, and the claims that it writes. */
import { Option } from "effect"
import type { Claim, Holding } from "./claim.ts"

/**
 * Whether a worker may still act as the owner: the time since it *began* its last successful
 * renewal is below the term less a margin. While clocks run at rates that differ by less than the
 * margin's share of the term, nobody else can have seen the claim lapse before. The store's own
 * compare-and-set under the epoch guards what this rule cannot.
 */
export const mayAct = (
  holding: Holding,
  now: number,
  term: { readonly termMs: number; readonly marginMs: number }
): boolean => now - holding.renewedAt < term.termMs - term.marginMs

/** The first claim on a shard that has no record. */
export const firstClaim = (shard: string, owner: string): Claim => ({
  shard,
  owner: Option.some(owner),
  epoch: 1,
  beat: 0,
  wantedBy: Option.none()
})

/** The claim by which a worker takes a shard over: the epoch rises, whoever had it before. */
export const takenOver = (claim: Claim, owner: string): Claim => ({
  ...claim,
  owner: Option.some(owner),
  epoch: claim.epoch + 1,
  beat: claim.beat + 1,
  wantedBy: Option.none()
})

/**
 * The claim of an owner that goes on under a higher epoch than another store has seen: after the
 * claims were lost and started over, epochs there must still not be used twice.
 */
export const raised = (claim: Claim, above: number): Claim => ({
  ...claim,
  epoch: Math.max(claim.epoch, above) + 1,
  beat: claim.beat + 1
})

/** The claim of an owner that goes on; the mark stays only while the shard is being drained. */
export const renewed = (claim: Claim, keepsMark: boolean): Claim => ({
  ...claim,
  beat: claim.beat + 1,
  wantedBy: keepsMark ? claim.wantedBy : Option.none()
})

/**
 * The claim of an owner that has drained; whoever asked for the shard has the first right to it.
 */
export const released = (claim: Claim): Claim => ({
  ...claim,
  owner: Option.none(),
  beat: claim.beat + 1
})

/** The claim on a shard that nobody ever owned. */
export const unclaimed = (shard: string): Claim => ({
  shard,
  owner: Option.none(),
  epoch: 0,
  beat: 0,
  wantedBy: Option.none()
})

/** The claim on a shard that is paused from now on, or goes on; it is no renewal. */
export const paused = (claim: Claim, isPaused: boolean): Claim => {
  const { isPaused: _before, ...rest } = claim
  return isPaused ? { ...rest, isPaused } : rest
}

/** The claim with a mark that asks its owner for the shard; it is no renewal. */
export const asked = (claim: Claim, by: string): Claim => ({ ...claim, wantedBy: Option.some(by) })
