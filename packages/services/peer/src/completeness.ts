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
 * 5. When the broker was away, the others may have gone on without this peer: every segment is as
 *    after a start.
 */
import type { Distribution, KeyRange, PeerId } from "@holdfast/keyspace"
import { KeySet } from "@holdfast/keyspace"
import { Effect } from "effect"
import type { PeerView } from "./peer-view.ts"

/** What is complete at a peer. */
export class Completeness {
  readonly #distribution: Distribution
  readonly #view: PeerView
  readonly #synced = new Set<PeerId>()
  /** How often something of a peer could not be taken over. */
  readonly #missed = new Map<PeerId, number>()

  constructor(distribution: Distribution, view: PeerView) {
    this.#distribution = distribution
    this.#view = view
  }

  /** Compares with a peer; unless it fails, or something is missed meanwhile, all is here then. */
  compared<A, E, R>(peer: PeerId, comparing: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const before = this.#missed.get(peer)
      return Effect.tap(comparing, () =>
        Effect.sync(() => {
          if (this.#missed.get(peer) === before) this.noteSynced(peer)
        })
      )
    })
  }

  /** The two have compared themselves, and this peer has all that the other had. */
  noteSynced(peer: PeerId): void {
    this.#synced.add(peer)
  }

  /** Something that a peer has could not be taken over: a full disk, a limit. */
  noteMissed(peer: PeerId): void {
    this.#missed.set(peer, (this.#missed.get(peer) ?? 0) + 1)
    this.#synced.delete(peer)
  }

  /** Whether the two have compared themselves since the other was last heard anew. */
  isSynced(peer: PeerId): boolean {
    return this.#synced.has(peer)
  }

  /** A peer is heard again after a silence. */
  noteReturned(peer: PeerId): void {
    this.#synced.delete(peer)
  }

  /** The others may have gone on without this peer. */
  noteCutOff(): void {
    this.#synced.clear()
  }

  /** The keys that this peer answers for. */
  keys(): KeySet {
    const self = this.#view.self.peer
    const ranges = this.#distribution.segments
      .filter(({ owners }) => owners.includes(self) && this.#isComplete(owners))
      .map(({ from, to }): KeyRange => [from, to])
    return KeySet.fromRanges(ranges)
  }

  #isComplete(owners: ReadonlyArray<PeerId>): boolean {
    const others = owners.filter((peer) => peer !== this.#view.self.peer)
    const heard = others.filter((peer) => this.#view.isLive(peer))
    const unheard = others.length - heard.length
    return heard.every((peer) => this.#synced.has(peer)) && unheard < majorityOf(owners.length)
  }
}

const majorityOf = (owners: number): number => Math.floor(owners / 2) + 1
