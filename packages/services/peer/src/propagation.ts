/**
 * Decides whom to tell of a change, and when.
 *
 *     own write      ──▶ at once to all who lack it ──▶ a little later, what all now know; of the
 *                                                       cluster as soon as it is known
 *     heard of it    ──▶ after a while, to those who still seem to lack it
 *
 * The writer carries his write to everybody; the others step in only if he could not.
 */
import type { PeerId } from "@holdfast/keyspace"
import { Clock, Effect } from "effect"
import type { Address } from "./address.ts"
import { isCluster } from "./cluster-partition.ts"
import { DelayLine } from "./delay-line.ts"
import type { Outbox } from "./outbox.ts"
import { makeOutbox } from "./outbox.ts"
import type { PartitionTable, Resident } from "./partition-table.ts"
import type { PeerView } from "./peer-view.ts"
import type { PeerSettings } from "./settings.ts"

/** The outgoing side of a peer. */
export interface Propagation {
  /** The outbox of a peer, made when it is first wanted. */
  readonly outboxOf: (peer: PeerId) => Outbox
  /** A peer is no member any more. */
  readonly forget: (peer: PeerId) => void
  /** To be called with each partition whose saved state changed. */
  readonly noteSaved: (resident: Resident) => void
  /** Puts a partition in a peer's outbox. */
  readonly offer: (peer: PeerId, address: Address) => void
  /** Looks after the lines until it is interrupted. */
  readonly loop: Effect.Effect<never>
}

const TICK_MILLIS = 20

/** Makes the outgoing side; who sends from the outboxes is `sender.ts`. */
export const makePropagation = Effect.fnUntraced(function* (options: {
  readonly settings: PeerSettings
  readonly view: PeerView
  readonly table: () => PartitionTable
}): Effect.fn.Return<Propagation> {
  const { settings, table, view } = options
  const { outboxMax } = settings.limits
  const clock = yield* Clock.Clock
  const now = (): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  const outboxes = new Map<PeerId, Outbox>()
  const outboxOf = (peer: PeerId): Outbox => {
    const known = outboxes.get(peer)
    if (known !== undefined) return known
    const made = makeOutbox(peer, outboxMax)
    outboxes.set(peer, made)
    return made
  }
  const line = (delayMillis: number) => new DelayLine({ delayMillis, max: outboxMax })
  const settling = line(settings.times.settleMillis)
  const resending = line(settings.times.resendMillis)

  const offer = (peer: PeerId, address: Address): void => {
    if (view.isOther(peer)) outboxOf(peer).offer(address)
  }
  const offerDivergent = ({ address, saved, told }: Resident): void => {
    for (const { participant } of saved?.divergent() ?? []) {
      if (told.get(participant.peer) !== saved?.digest()) offer(participant.peer, address)
    }
  }
  const offerUntold = ({ address, saved, told }: Resident): void => {
    for (const { peer } of saved?.participants() ?? []) {
      if (told.get(peer) !== saved?.digest()) offer(peer, address)
    }
  }
  const tick = (): void => {
    table().expireWaiters(now())
    for (const address of settling.takeDue(now())) {
      const resident = table().find(address)
      if (resident !== undefined) offerUntold(resident)
    }
    for (const address of resending.takeDue(now())) {
      const resident = table().find(address)
      if (resident !== undefined) offerDivergent(resident)
    }
  }

  return {
    outboxOf,
    forget: (peer) => {
      outboxes.delete(peer)
    },
    offer,
    noteSaved: (resident) => {
      if (isCluster(resident.address.application)) offerUntold(resident)
      if (resident.isWriter) {
        offerDivergent(resident)
        settling.add(resident.address, now())
        resident.isWriter = false
      } else if ((resident.saved?.pending() ?? 0) > 0) {
        resending.add(resident.address, now())
      }
    },
    loop: Effect.forever(Effect.andThen(Effect.sleep(TICK_MILLIS), Effect.sync(tick)))
  }
})
