/**
 * Which worker owns which shard: the rule, as a function of what one worker sees.
 *
 *     free ──claim──▶ owned ──ask──▶ wanted ──drain──▶ released ──claim──▶ owned, epoch + 1
 *                       └──── stands still for the term ───▶ lapsed ──claim──▶ owned, epoch + 1
 *
 * Each worker runs the rule by itself and carries its actions out by compare-and-set; no worker
 * leads. A worker that owns nothing is seen by the mark that it leaves.
 *
 * 1. Each change of owner raises the epoch.
 * 2. A claim lapses by the observer's own clock only.
 * 3. A worker asks for a shard only of one that owns at least two more, and an owner hands over
 *    only then: it ends when the numbers differ by one at most, and cannot go round in circles.
 * 4. No shard is in limbo: one that is released and not taken by who asked for it is free for all
 *    once it has stood still for the term.
 * 5. A claim under this worker's own name that it does not hold (from before a restart, or of
 *    another process with the same name) is like any other's: it must lapse.
 * 6. A shard that is paused is as one that is not there: its owner hands it over, nobody takes it.
 */
import { Option } from "effect"
import type { Claim, ClaimTable, Holding, ObservedClaim } from "./claim.ts"
import { hasLapsed } from "./observe.ts"
import { asked, firstClaim, renewed, takenOver } from "./ownership.ts"

/** What a worker sees and is. */
export interface Situation {
  readonly table: ClaimTable
  /** Milliseconds on this worker's monotonic clock. */
  readonly now: number
  /** How long a claim may stand still before it has lapsed. */
  readonly termMs: number
  readonly self: string
  /** The shards that there are. */
  readonly shards: ReadonlyArray<string>
  /** What this worker runs. */
  readonly held: ReadonlyMap<string, Holding>
  /** Whether it takes further shards; false while it shuts down. */
  readonly isAccepting: boolean
}

/** What to do, by compare-and-set on `expected` where something is written. */
export type LeaseAction =
  | {
      readonly _tag: "Claim" | "Renew" | "Ask"
      readonly claim: Claim
      readonly expected: Option.Option<bigint>
    }
  /** Drain this shard and release it; `to` asked for it, or it is no longer there. */
  | { readonly _tag: "HandOff"; readonly shard: string; readonly to: Option.Option<string> }
  /** The shard belongs to another owner or epoch: stop at once and write nothing. */
  | { readonly _tag: "Lost"; readonly shard: string }

/** Decides what one worker does now. O(claims). */
export const decide = (given: Situation): ReadonlyArray<LeaseAction> => {
  const shards = given.shards.filter((shard) => given.table.get(shard)?.record.isPaused !== true)
  const situation = { ...given, shards }
  const view = look(situation)
  const kept = keep(situation, view)
  if (!situation.isAccepting) return kept
  const taken = take(situation, view)
  // Whoever has just taken something sees next time whether it is still short of its share.
  return taken.length > 0 ? [...kept, ...taken] : [...kept, ...ask(situation, view)]
}

/** Numbers of shards by worker, as this worker sees them. */
interface View {
  /** Shards owned under claims that have not lapsed, those being drained left out. */
  readonly owned: ReadonlyMap<string, number>
  /** Shards that are on their way to a worker that asked for them. */
  readonly coming: ReadonlyMap<string, number>
  /** Everybody who owns or asks for something, and this worker. */
  readonly live: ReadonlySet<string>
}

const look = ({ held, now, self, table, termMs }: Situation): View => {
  const owned = new Map<string, number>([[self, 0]])
  const coming = new Map<string, number>()
  const live = new Set([self])
  for (const claim of table.values()) {
    const { owner, shard, wantedBy } = claim.record
    const isMarked = Option.isSome(wantedBy) && now - claim.markedAt < termMs
    if (isMarked) {
      live.add(wantedBy.value)
      count(coming, wantedBy.value)
    }
    if (Option.isNone(owner)) continue
    const isOwn = held.has(shard) && owner.value === self
    if (!isOwn && hasLapsed(claim, now, termMs)) continue
    live.add(owner.value)
    if (!isMarked) count(owned, owner.value)
  }
  return { owned, coming, live }
}

const count = (numbers: Map<string, number>, name: string): void => {
  numbers.set(name, (numbers.get(name) ?? 0) + 1)
}

/** What becomes of the shards that this worker holds. */
const keep = (situation: Situation, view: View): ReadonlyArray<LeaseAction> => {
  const { held, self, shards, table } = situation
  const present = new Set(shards)
  const actions: Array<LeaseAction> = []
  for (const [shard, holding] of held) {
    const claim = table.get(shard)
    if (claim === undefined || !isHeldBy(claim.record, self, holding.epoch)) {
      actions.push({ _tag: "Lost", shard })
      continue
    }
    const { wantedBy } = claim.record
    const isYielding = holding.isDraining || mayYield(view, self, wantedBy)
    actions.push({
      _tag: "Renew",
      claim: renewed(claim.record, isYielding),
      expected: Option.some(claim.revision)
    })
    if (holding.isDraining) continue
    if (!present.has(shard)) actions.push({ _tag: "HandOff", shard, to: Option.none() })
    else if (isYielding) actions.push({ _tag: "HandOff", shard, to: wantedBy })
  }
  return actions
}

const isHeldBy = ({ epoch, owner }: Claim, self: string, held: number): boolean =>
  epoch === held && Option.getOrUndefined(owner) === self

/** Whether the handover that was asked for brings the numbers closer; it is counted in already. */
const mayYield = (view: View, self: string, wantedBy: Option.Option<string>): boolean => {
  if (Option.isNone(wantedBy) || wantedBy.value === self) return false
  const remaining = view.owned.get(self) ?? 0
  const theirs = (view.owned.get(wantedBy.value) ?? 0) + (view.coming.get(wantedBy.value) ?? 0)
  return remaining >= theirs
}

/** Free shards that this worker claims, up to its fair share. */
const take = (situation: Situation, view: View): ReadonlyArray<LeaseAction> => {
  const { held, self, shards, table } = situation
  const share = Math.ceil(shards.length / view.live.size)
  const mine = (view.owned.get(self) ?? 0) + (view.coming.get(self) ?? 0)
  const promised = shards.filter((shard) => isPromised(situation, table.get(shard)))
  const free = byPreference(self, shards).filter(
    (shard) => !held.has(shard) && !promised.includes(shard) && isFree(situation, table.get(shard))
  )
  return [...promised, ...free.slice(0, Math.max(0, share - mine))].map((shard) => {
    const claim = table.get(shard)
    return claim === undefined
      ? { _tag: "Claim", claim: firstClaim(shard, self), expected: Option.none() }
      : {
          _tag: "Claim",
          claim: takenOver(claim.record, self),
          expected: Option.some(claim.revision)
        }
  })
}

/** Released for this worker. */
const isPromised = ({ self }: Situation, claim: ObservedClaim | undefined): boolean =>
  claim !== undefined &&
  Option.isNone(claim.record.owner) &&
  Option.getOrUndefined(claim.record.wantedBy) === self

const isFree = ({ now, termMs }: Situation, claim: ObservedClaim | undefined): boolean =>
  claim === undefined ||
  hasLapsed(claim, now, termMs) ||
  (Option.isNone(claim.record.owner) && Option.isNone(claim.record.wantedBy))

/** Shards of others that this worker asks for, one at a time from whoever owns most. */
const ask = (situation: Situation, view: View): ReadonlyArray<LeaseAction> => {
  const { held, now, self, shards, table, termMs } = situation
  const owned = new Map(view.owned)
  let mine = (owned.get(self) ?? 0) + (view.coming.get(self) ?? 0)
  const actions: Array<LeaseAction> = []
  for (const shard of byPreference(self, shards)) {
    const claim = table.get(shard)
    if (claim === undefined || held.has(shard) || hasLapsed(claim, now, termMs)) continue
    const owner = Option.getOrUndefined(claim.record.owner)
    if (owner === undefined || owner === self) continue
    const isMarked = Option.isSome(claim.record.wantedBy) && now - claim.markedAt < termMs
    const theirs = owned.get(owner) ?? 0
    if (isMarked || theirs < mine + 2 || theirs < highest(owned)) continue
    owned.set(owner, theirs - 1)
    mine += 1
    actions.push({
      _tag: "Ask",
      claim: asked(claim.record, self),
      expected: Option.some(claim.revision)
    })
  }
  return actions
}

const highest = (numbers: ReadonlyMap<string, number>): number => Math.max(...numbers.values())

/** Each worker tries the shards in an order of its own, so that two rarely meet at one claim. */
const byPreference = (self: string, shards: ReadonlyArray<string>): ReadonlyArray<string> =>
  shards
    .map((shard) => ({ shard, weight: weigh(`${self}\n${shard}`) }))
    .sort((one, other) => one.weight - other.weight || (one.shard < other.shard ? -1 : 1))
    .map(({ shard }) => shard)

/** FNV-1a of 32 bits over the UTF-16 units. */
const weigh = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
