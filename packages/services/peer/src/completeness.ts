/**
 * For which keys this peer may answer a search.
 *
 * 1. After a start, a segment that others own too is incomplete until this peer has compared
 *    itself with one of them, and taken over what it lacked.
 * 2. When another owner comes back, it is incomplete until the two have compared themselves.
 * 3. While all others are down, what was complete stays so.
 * 4. What could not be taken over from another makes it incomplete, until a comparison misses
 *    nothing.
 * 5. When the first of them is heard again, or the broker was away, it may have been this peer that
 *    was cut off, and the others that went on: every segment is as after a start.
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
  readonly #everSynced = new Set<PeerId>()
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
    this.#everSynced.add(peer)
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
    const isFirst = !this.#view.others().some((one) => one !== peer && this.#view.isLive(one))
    if (isFirst) this.noteCutOff()
    this.#synced.delete(peer)
  }

  /** The others may have gone on without this peer. */
  noteCutOff(): void {
    this.#synced.clear()
    this.#everSynced.clear()
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
    if (others.length === 0) return true
    return (
      others.some((peer) => this.#everSynced.has(peer)) &&
      others.every((peer) => this.#synced.has(peer) || !this.#view.isLive(peer))
    )
  }
}
