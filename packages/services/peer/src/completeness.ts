/**
 * For which keys this peer may answer a search.
 *
 * 1. A write that was confirmed by a majority of a segment's owners is at one of those that this
 *    peer hears and has compared itself with, or at itself: else the segment is incomplete. Who
 *    hears too few of them cannot tell whether they are down or it is cut off.
 * 2. When another owner comes back, it is incomplete until the two have compared themselves.
 * 3. So after a start it is incomplete until this peer has compared itself with enough others, and
 *    taken over what it lacked.
 * 4. What could not be taken over from another makes it incomplete, until a comparison misses
 *    nothing.
 * 5. Who gains keys by a plan holds them when it has compared itself, since that plan was agreed
 *    on, with as many of those who have them. Owners who are gone are missed: what they alone held
 *    is lost, and what they held with one other is only surely here if all who are left were heard.
 * 6. Once a sweep has begun, this peer knows each birth that another held when he began to take
 *    part in it, if the two have compared themselves since the other said so. What is confirmed
 *    here needs no look for that.
 * 7. When the broker was away, the others may have gone on without this peer: every segment is as
 *    after a start.
 */
import { gainsOf } from "@holdfast/cluster"
import type { KeyRange, PeerId, Segment } from "@holdfast/keyspace"
import { KeySet } from "@holdfast/keyspace"
import { Effect } from "effect"
import type { Membership } from "./membership.ts"
import type { PeerView } from "./peer-view.ts"

/**
 * What a comparison finds out: all that the other holds; which partitions of his are new here, or
 * wait here to be confirmed; or what comes up in passing.
 */
export type ComparisonScope = "everything" | "births" | "passing"

const NEVER = -1

/** When two peers compared themselves. */
interface Synced {
  /** Of the last plan that the two shared keys by. */
  readonly ordinal: number
  /** Of the last sweep that both knew of. */
  readonly round: number
}

/** What is complete at a peer. */
export class Completeness {
  readonly #membership: Membership
  readonly #view: PeerView
  readonly #synced = new Map<PeerId, Synced>()
  /** How often a comparison with a peer that was under way came to nothing. */
  readonly #spoilt = new Map<PeerId, number>()
  #cutOffs = 0

  constructor(membership: Membership, view: PeerView) {
    this.#membership = membership
    this.#view = view
  }

  /** What a comparison with a peer is to find out now. */
  scopeFor(peer: PeerId): ComparisonScope {
    if (!this.isSynced(peer)) return "everything"
    return this.#roundOf(peer) < this.#roundWith(peer) ? "births" : "passing"
  }

  /** Compares with a peer; unless it fails, or something is missed meanwhile, all is here then. */
  compared<A, E, R>(
    peer: PeerId,
    scope: ComparisonScope,
    comparing: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const before = this.#spoiltFor(peer)
      const known = this.#synced.get(peer)
      const round = this.#roundWith(peer)
      const ordinal =
        scope === "everything" ? this.#membership.agreed.ordinal : (known?.ordinal ?? NEVER)
      return Effect.tap(comparing, () =>
        Effect.sync(() => {
          const isSpoilt = this.#spoiltFor(peer) !== before
          if (scope !== "passing" && !isSpoilt) this.#synced.set(peer, { ordinal, round })
        })
      )
    })
  }

  /** Something that a peer has could not be taken over: a full disk, a limit. */
  noteMissed(peer: PeerId): void {
    this.#spoilt.set(peer, (this.#spoilt.get(peer) ?? 0) + 1)
    this.#synced.delete(peer)
  }

  #spoiltFor(peer: PeerId): number {
    return this.#cutOffs + (this.#spoilt.get(peer) ?? 0)
  }

  /**
   * Whether the two have compared themselves since the other was heard anew, and since the plan if
   * this peer gains keys by it.
   */
  isSynced(peer: PeerId): boolean {
    const { agreed } = this.#membership
    const isGainer = !KeySet.isEmpty(gainsOf(agreed, this.#view.self.peer))
    return this.#isSyncedFor(peer, isGainer ? agreed.ordinal : 0)
  }

  /** The members whom this peer has not compared itself with in the sweep at hand. */
  notSwept(): ReadonlyArray<PeerId> {
    const { members, round } = this.#membership
    return members.filter((peer) => peer !== this.#view.self.peer && this.#roundOf(peer) < round)
  }

  /** Of the last sweep that the two have compared themselves in. */
  #roundOf(peer: PeerId): number {
    return this.#synced.get(peer)?.round ?? NEVER
  }

  /** Of the last sweep that both this peer and another know of. */
  #roundWith(peer: PeerId): number {
    return Math.min(this.#membership.round, this.#view.roundOf(peer))
  }

  /** A peer is heard again after a silence: he may have written to others in it. */
  noteReturned(peer: PeerId): void {
    this.noteMissed(peer)
  }

  /** The others may have gone on without this peer. */
  noteCutOff(): void {
    this.#cutOffs += 1
    this.#synced.clear()
  }

  /** The keys that this peer answers for. */
  keys(): KeySet {
    const self = this.#view.self.peer
    const ranges = this.#membership.distribution.segments
      .filter((segment) => segment.owners.includes(self) && this.#isComplete(segment, 0))
      .map(({ from, to }): KeyRange => [from, to])
    return KeySet.fromRanges(ranges)
  }

  /** Whether this peer holds all of the keys that it gains by the step under way. */
  hasGained(gains: KeySet): boolean {
    const { ordinal } = this.#membership.agreed
    return this.#sourcesOf(gains).every((segment) => this.#isComplete(segment, ordinal))
  }

  /** The live peers to compare with before it holds what it gains. */
  sourcesLeft(gains: KeySet): ReadonlyArray<PeerId> {
    const owners = new Set(this.#sourcesOf(gains).flatMap((segment) => segment.owners))
    return [...owners].filter(
      (peer) => peer !== this.#view.self.peer && this.#view.isLive(peer) && !this.isSynced(peer)
    )
  }

  #sourcesOf(gains: KeySet): ReadonlyArray<Segment> {
    return this.#membership.distribution.segments.filter(
      ({ from, to }) => !KeySet.isEmpty(KeySet.intersection(KeySet.range(from, to), gains))
    )
  }

  #isSyncedFor(peer: PeerId, ordinal: number): boolean {
    return (this.#synced.get(peer)?.ordinal ?? NEVER) >= ordinal
  }

  /** Whether enough of a segment's owners were compared with since a plan was agreed on. */
  #isComplete({ owners }: Segment, ordinal: number): boolean {
    const { members } = this.#membership
    const others = owners.filter((peer) => peer !== this.#view.self.peer)
    const left = others.filter((peer) => members.includes(peer))
    const heard = left.filter((peer) => this.#view.isLive(peer))
    const unheard = left.length - heard.length
    const gone = others.length - left.length
    const isEnough = unheard === 0 || unheard + gone < majorityOf(owners.length)
    return isEnough && heard.every((peer) => this.#isSyncedFor(peer, ordinal))
  }
}

const majorityOf = (owners: number): number => Math.floor(owners / 2) + 1
