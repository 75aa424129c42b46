/**
 * What this peer knows of the others: which life of each it hears, and since when.
 *
 * 1. A message of an earlier incarnation or boot than one already heard changes nothing.
 * 2. Ages are by the monotonic clock. Who was never heard is down.
 * 3. A process that hears a later boot of itself is fenced: it serves and sends nothing more.
 */
import type { PeerId } from "@holdfast/keyspace"
import type { Participant } from "@holdfast/power-state"
import { ServiceError } from "@holdfast/wire"

/** One life of a peer. */
export interface PeerLife extends Participant {
  readonly boot: number
}

interface Heard {
  life: PeerLife
  at: number
}

const isEarlier = (left: PeerLife, right: PeerLife): boolean =>
  left.incarnation === right.incarnation
    ? left.boot < right.boot
    : left.incarnation < right.incarnation

/** A peer's view of its cluster. */
export class PeerView {
  readonly self: PeerLife
  readonly members: ReadonlyArray<PeerId>
  readonly #heard = new Map<PeerId, Heard>()
  readonly #now: () => number
  readonly #silentMillis: number
  readonly #onReturn: (peer: PeerId) => void
  #isFenced = false

  constructor(options: {
    readonly self: PeerLife
    readonly members: ReadonlyArray<PeerId>
    readonly now: () => number
    readonly silentMillis: number
    /** Told when a peer is heard that was down. */
    readonly onReturn: (peer: PeerId) => void
  }) {
    this.self = options.self
    this.members = options.members
    this.#now = options.now
    this.#silentMillis = options.silentMillis
    this.#onReturn = options.onReturn
  }

  get isFenced(): boolean {
    return this.#isFenced
  }

  /** Notes a sign of life; a refusal when it comes from a life that is over, or from a stranger. */
  hear(life: PeerLife): ServiceError | null {
    if (life.peer === this.self.peer) {
      if (isEarlier(this.self, life)) this.#isFenced = true
      return life.boot === this.self.boot ? null : staleSender(life)
    }
    if (!this.members.includes(life.peer)) return staleSender(life)
    const known = this.#heard.get(life.peer)
    if (known !== undefined && isEarlier(life, known.life)) return staleSender(life)
    const wasLive = this.isLive(life.peer)
    this.#heard.set(life.peer, { life, at: this.#now() })
    if (!wasLive) this.#onReturn(life.peer)
    return null
  }

  /** Whether a peer was heard lately; this peer itself always was. */
  isLive(peer: PeerId): boolean {
    if (peer === this.self.peer) return !this.#isFenced
    const heard = this.#heard.get(peer)
    return heard !== undefined && this.#now() - heard.at <= this.#silentMillis
  }

  /** Peers that may be asked, this one included. */
  live(): ReadonlySet<PeerId> {
    return new Set(this.members.filter((peer) => this.isLive(peer)))
  }

  /** Peers thought to be down. */
  down(): ReadonlySet<PeerId> {
    return new Set(this.members.filter((peer) => !this.isLive(peer)))
  }

  /** Milliseconds since a peer was last heard; null if it never was. */
  silence(peer: PeerId): number | null {
    const heard = this.#heard.get(peer)
    return heard === undefined ? null : this.#now() - heard.at
  }

  /** Members other than this one. */
  others(): ReadonlyArray<PeerId> {
    return this.members.filter((peer) => peer !== this.self.peer)
  }

  /** The participant that a peer is, as far as known: born in incarnation 0. */
  participantOf(peer: PeerId): Participant {
    const incarnation =
      peer === this.self.peer
        ? this.self.incarnation
        : (this.#heard.get(peer)?.life.incarnation ?? 0)
    return { peer, incarnation }
  }
}

const staleSender = ({ boot, incarnation, peer }: PeerLife): ServiceError =>
  new ServiceError({
    code: "stale-sender",
    message: `${peer} in incarnation ${incarnation}, boot ${boot} is not the one that counts`
  })
