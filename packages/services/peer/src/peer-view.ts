/**
 * What this peer knows of the others: which life of each it hears, and since when.
 *
 * 1. A message of an earlier incarnation or boot than one already heard changes nothing, and so
 *    does one of a life that is no member.
 * 2. Ages are by the monotonic clock. Who was never heard is down.
 * 3. A process that hears a later boot of itself is fenced; one whose life has ended for the
 *    cluster is over, too: it serves and sends nothing more.
 */
import type { PeerId } from "@holdfast/keyspace"
import type { Participant } from "@holdfast/power-state"
import { ServiceError } from "@holdfast/wire"
import type { Membership } from "./membership.ts"

/** One life of a peer. */
export interface PeerLife extends Participant {
  readonly boot: number
}

/** Why a process serves no more. */
export type LifeEnd = "fenced" | "left" | "ejected"

interface Heard {
  life: PeerLife
  at: number
  /** Of the last sweep whose beginning that peer knows to be agreed on. */
  round: number
}

const NO_ROUND = -1

const isEarlier = (left: PeerLife, right: PeerLife): boolean =>
  left.incarnation === right.incarnation
    ? left.boot < right.boot
    : left.incarnation < right.incarnation

/** A peer's view of its cluster. */
export class PeerView {
  readonly self: PeerLife
  readonly #membership: Membership
  readonly #heard = new Map<PeerId, Heard>()
  readonly #now: () => number
  readonly #silentMillis: number
  readonly #onReturn: (peer: PeerId) => void
  readonly #onEnd: (end: LifeEnd) => void
  readonly #since: number
  #end: LifeEnd | null = null

  constructor(options: {
    readonly self: PeerLife
    readonly membership: Membership
    readonly now: () => number
    readonly silentMillis: number
    /** Told when a peer is heard that was down. */
    readonly onReturn: (peer: PeerId) => void
    /** Told once, when this process is to serve no more. */
    readonly onEnd: (end: LifeEnd) => void
  }) {
    this.self = options.self
    this.#membership = options.membership
    this.#now = options.now
    this.#since = options.now()
    this.#silentMillis = options.silentMillis
    this.#onReturn = options.onReturn
    this.#onEnd = options.onEnd
  }

  /** Why this process serves no more; null while it does. */
  get end(): LifeEnd | null {
    return this.#end
  }

  /** This process serves no more. */
  noteEnd(end: LifeEnd): void {
    if (this.#end !== null) return
    this.#end = end
    this.#onEnd(end)
  }

  /**
   * Notes a sign of life, and the round that it tells of; a refusal when it comes from a life that
   * is over, or from a stranger.
   */
  hear(life: PeerLife, round?: number): ServiceError | null {
    if (life.peer === this.self.peer) {
      if (isEarlier(this.self, life)) this.noteEnd("fenced")
      return life.boot === this.self.boot ? null : staleSender(life)
    }
    const end = this.#membership.endOf(life)
    if (end !== null) return endedSender(life, end)
    if (!this.#membership.members.includes(life.peer)) return staleSender(life)
    const known = this.#heard.get(life.peer)
    if (known !== undefined && isEarlier(life, known.life)) return staleSender(life)
    const wasLive = this.isLive(life.peer)
    const isSameLife = known?.life.incarnation === life.incarnation
    const before = isSameLife ? known.round : NO_ROUND
    this.#heard.set(life.peer, {
      life,
      at: this.#now(),
      round: Math.max(before, round ?? NO_ROUND)
    })
    if (!wasLive) this.#onReturn(life.peer)
    return null
  }

  /**
   * An answer of a peer that is live is a sign of life, too. It does not bring back one that is
   * not: who asked may have been cut off in between.
   */
  noteAnswer(peer: PeerId): void {
    const heard = this.#heard.get(peer)
    if (heard !== undefined && this.isLive(peer)) heard.at = this.#now()
  }

  /** Forgets who is no member any more. */
  forgetOthers(): void {
    for (const peer of this.#heard.keys()) {
      if (!this.#membership.members.includes(peer)) this.#heard.delete(peer)
    }
  }

  /** Whether a peer was heard lately; this peer itself always was. */
  isLive(peer: PeerId): boolean {
    if (peer === this.self.peer) return this.#end === null
    const heard = this.#heard.get(peer)
    return heard !== undefined && this.#now() - heard.at <= this.#silentMillis
  }

  /** Peers that may be asked, this one included. */
  live(): ReadonlySet<PeerId> {
    return new Set(this.#membership.members.filter((peer) => this.isLive(peer)))
  }

  /** Peers thought to be down. */
  down(): ReadonlySet<PeerId> {
    return new Set(this.#membership.members.filter((peer) => !this.isLive(peer)))
  }

  /** Milliseconds since a peer was last heard; null if it never was. */
  silence(peer: PeerId): number | null {
    const heard = this.#heard.get(peer)
    return heard === undefined ? null : this.#now() - heard.at
  }

  /** The start of a peer that was heard last; -1 if none was. */
  bootOf(peer: PeerId): number {
    return this.#heard.get(peer)?.life.boot ?? -1
  }

  /** Of the last sweep that a peer has told that it knows of; -1 if it has not told. */
  roundOf(peer: PeerId): number {
    return this.#heard.get(peer)?.round ?? NO_ROUND
  }

  /** Milliseconds since a peer was last heard, or since this process began. */
  silentFor(peer: PeerId): number {
    return this.#now() - (this.#heard.get(peer)?.at ?? this.#since)
  }

  /** Whether a peer is a member other than this one. */
  isOther(peer: PeerId): boolean {
    return peer !== this.self.peer && this.#membership.members.includes(peer)
  }

  /** Members other than this one. */
  others(): ReadonlyArray<PeerId> {
    return this.#membership.members.filter((peer) => peer !== this.self.peer)
  }
}

const staleSender = ({ boot, incarnation, peer }: PeerLife): ServiceError =>
  new ServiceError({
    code: "stale-sender",
    message: `${peer} in incarnation ${incarnation}, boot ${boot} is not the one that counts`
  })

/**
 * How one is refused whose own life is over. The codes are not those of a process that itself
 * serves no more: who hears those knows nothing about himself.
 */
export const endedSenderCodes = { left: "sender-left", ejected: "sender-ejected" } as const

/** The refusal of one whose own life is over. */
export const endedSender = (
  { incarnation, peer }: Participant,
  end: "left" | "ejected"
): ServiceError =>
  new ServiceError({
    code: endedSenderCodes[end],
    message: `${peer} in incarnation ${incarnation} has ${end === "left" ? "left" : "been ejected"}`
  })
