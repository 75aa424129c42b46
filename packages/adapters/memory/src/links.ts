/**
 * The links of a memory network: decides the fate of each message and delivers in order of time.
 *
 *     transmit ──▶ blocked? lost? twice? how long? ──▶ due queue ──▶ blocked? stalled? ──▶ arrive
 *
 * 1. Messages that are due at the same time arrive in the order they were sent.
 * 2. A message that is not chosen for reordering never overtakes an earlier one of its link.
 * 3. Chance is drawn only where a fault asks for it, from the network's own generator, in order of
 *    sending: the same seed and the same calls give the same fates.
 * 4. A stalled node holds at most `heldMax` messages; more are lost.
 */
import type { Clock, Random } from "effect"
import type { LinkFaults } from "./network-fault.ts"
import { faultlessLink } from "./network-fault.ts"
import type { NetworkTrace } from "./network-trace.ts"

/** A message on its way between two nodes. */
export interface Transit {
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly message: number
  readonly arrive: () => void
}

interface DueTransit {
  readonly due: bigint
  readonly transit: Transit
}

/** The links of one network. */
export interface Links {
  readonly transmit: (transit: Transit) => void
  readonly setFaults: (faults: LinkFaults, from: string | null, to: string | null) => void
  readonly block: (from: string, to: string) => void
  readonly unblock: (from: string, to: string) => void
  readonly unblockAll: () => void
  readonly stall: (node: string) => void
  readonly resume: (node: string) => void
  /** Whether anything passes this way now. */
  readonly isOpen: (from: string, to: string) => boolean
  /** How long something that is not a message takes this way, in milliseconds. */
  readonly drawDelay: (from: string, to: string) => number
}

/** What links need of their network. */
export interface LinksOptions {
  readonly clock: Clock.Clock
  readonly random: Random.Random
  readonly trace: NetworkTrace
  readonly origin: bigint
  readonly heldMax: number
  /** Calls back once after so many milliseconds. */
  readonly wakeAfter: (millis: number, wake: () => void) => void
}

const nanosPerMilli = 1_000_000n
/** A link's name; null stands for any node. */
const linkName = (from: string | null, to: string | null): string => JSON.stringify([from, to])

/** Makes links that deliver everything at once; a transmit is O(log n) in the messages on the way. */
export const makeLinks = (options: LinksOptions): Links => {
  const { clock, trace } = options
  const linkFaults = new Map<string, LinkFaults>()
  const blocked = new Set<string>()
  const stalled = new Map<string, Array<() => void>>()
  const latestDue = new Map<string, bigint>()
  const onTheWay: Array<DueTransit> = []

  const chance = (probability: number): boolean =>
    probability > 0 && options.random.nextDoubleUnsafe() < probability

  const note = (kind: "delivered" | "lost" | "duplicated" | "held", transit: Transit): void => {
    const { from, to, subject, message } = transit
    trace.add({
      at: clock.monotonicTimeNanosUnsafe() - options.origin,
      kind,
      from,
      to,
      subject,
      message
    })
  }

  const faultsOf = (from: string, to: string): LinkFaults =>
    linkFaults.get(linkName(from, to)) ??
    linkFaults.get(linkName(from, null)) ??
    linkFaults.get(linkName(null, to)) ??
    linkFaults.get(linkName(null, null)) ??
    faultlessLink

  const isBlocked = ({ from, to }: { readonly from: string; readonly to: string }): boolean =>
    blocked.has(linkName(from, to))

  /** Keeps a step for a stalled node's return; answers whether it did, or lost the message. */
  const heldFor = (node: string, transit: Transit, step: () => void): boolean => {
    const held = stalled.get(node)
    if (held === undefined) return false
    if (held.length < options.heldMax) {
      note("held", transit)
      held.push(step)
    } else {
      note("lost", transit)
    }
    return true
  }

  const arrive = (transit: Transit): void => {
    if (isBlocked(transit)) note("lost", transit)
    else if (!heldFor(transit.to, transit, () => arrive(transit))) {
      note("delivered", transit)
      transit.arrive()
    }
  }

  const deliverDue = (): void => {
    const now = clock.monotonicTimeNanosUnsafe()
    for (let next = onTheWay[0]; next !== undefined && next.due <= now; next = onTheWay[0]) {
      onTheWay.shift()
      arrive(next.transit)
    }
  }

  const awaitDue = (due: bigint): void => {
    const remaining = due - clock.monotonicTimeNanosUnsafe()
    if (remaining <= 0n) return deliverDue()
    // A timer may fire early; whole milliseconds, rounded up, always make progress.
    const millis = Number((remaining + nanosPerMilli - 1n) / nanosPerMilli)
    options.wakeAfter(millis, () => awaitDue(due))
  }

  const drawDelay = ({ delayMillis: [shortest, longest] }: LinkFaults): number => {
    const spread = longest - shortest + 1
    const drawn = spread <= 1 ? 0 : Math.floor(options.random.nextDoubleUnsafe() * spread)
    return shortest + drawn
  }

  const dueTime = (transit: Transit, faults: LinkFaults, now: bigint): bigint => {
    const due = now + BigInt(drawDelay(faults)) * nanosPerMilli
    if (chance(faults.reorder)) return due
    const name = linkName(transit.from, transit.to)
    const latest = latestDue.get(name) ?? 0n
    const ordered = due > latest ? due : latest
    latestDue.set(name, ordered)
    return ordered
  }

  const enqueue = (due: bigint, transit: Transit): void => {
    let low = 0
    let high = onTheWay.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const there = onTheWay[middle]
      if (there !== undefined && there.due <= due) low = middle + 1
      else high = middle
    }
    onTheWay.splice(low, 0, { due, transit })
    awaitDue(due)
  }

  const transmit = (transit: Transit): void => {
    if (heldFor(transit.from, transit, () => transmit(transit))) return
    const faults = faultsOf(transit.from, transit.to)
    if (isBlocked(transit) || chance(faults.loss)) return note("lost", transit)
    const twice = chance(faults.duplication)
    const now = clock.monotonicTimeNanosUnsafe()
    const dues = [dueTime(transit, faults, now)]
    if (twice) {
      note("duplicated", transit)
      dues.push(dueTime(transit, faults, now))
    }
    for (const due of dues) enqueue(due, transit)
  }

  return {
    transmit,
    setFaults: (faults, from, to) => {
      linkFaults.set(linkName(from, to), faults)
    },
    block: (from, to) => {
      if (from !== to) blocked.add(linkName(from, to))
    },
    unblock: (from, to) => {
      blocked.delete(linkName(from, to))
    },
    unblockAll: () => blocked.clear(),
    stall: (node) => {
      if (!stalled.has(node)) stalled.set(node, [])
    },
    resume: (node) => {
      const held = stalled.get(node) ?? []
      stalled.delete(node)
      for (const step of held) step()
    },
    isOpen: (from, to) => !isBlocked({ from, to }) && !stalled.has(from) && !stalled.has(to),
    drawDelay: (from, to) => drawDelay(faultsOf(from, to))
  }
}
