/**
 * The links of a memory network: decides the fate of each message and delivers in order of time.
 *
 *     transmit ──▶ blocked? lost? twice? how long? ──▶ due queue ──▶ blocked? stalled? ──▶ arrive
 *
 * 1. Messages that are due at the same time arrive in the order they were sent.
 * 2. A message that is not chosen for reordering never overtakes an earlier one of its link.
 * 3. Chance is drawn only where a fault asks for it, from the network's own generator, in order of
 *    sending: the same seed and the same calls give the same fates.
 * 4. A stalled node holds at most `heldMax` messages, and at most `onTheWayMax` are on the way;
 *    more are lost.
 */
import type { Clock, Random } from "effect"
import { lowerBound } from "./byte-order.ts"
import { linkName, type LinkRules } from "./link-rules.ts"
import type { LinkFaults } from "./network-fault.ts"
import type { NetworkTrace } from "./network-trace.ts"

/** A message on its way between two nodes. */
export interface Transit {
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly message: number
  readonly arrive: () => void
}

/** The links of one network. */
export interface Links {
  readonly rules: LinkRules
  readonly transmit: (transit: Transit) => void
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
  readonly rules: LinkRules
  readonly trace: NetworkTrace
  readonly origin: bigint
  readonly heldMax: number
  readonly onTheWayMax: number
  /** Calls back once after so many milliseconds. */
  readonly wakeAfter: (millis: number, wake: () => void) => void
}

interface LinksState extends LinksOptions {
  /** Sorted by when they are due, then by when they were sent. */
  readonly onTheWay: Array<{ readonly due: bigint; readonly transit: Transit }>
  /** The latest due time of each link. */
  readonly latestDue: Map<string, bigint>
  /** What each stalled node holds. */
  readonly stalled: Map<string, Array<() => void>>
}

const nanosPerMilli = 1_000_000n

const chance = (state: LinksState, probability: number): boolean =>
  probability > 0 && state.random.nextDoubleUnsafe() < probability

const drawDelay = (state: LinksState, { delayMillis: [shortest, longest] }: LinkFaults): number => {
  const spread = longest - shortest + 1
  if (spread <= 1) return shortest
  return shortest + Math.floor(state.random.nextDoubleUnsafe() * spread)
}

const note = (
  state: LinksState,
  kind: "delivered" | "lost" | "duplicated" | "held",
  { from, to, subject, message }: Transit
): void => {
  const at = state.clock.monotonicTimeNanosUnsafe() - state.origin
  state.trace.add({ at, kind, from, to, subject, message })
}

/** Keeps a step for a stalled node's return, or loses the message; false when it is not stalled. */
const isHeld = (state: LinksState, node: string, transit: Transit, step: () => void): boolean => {
  const held = state.stalled.get(node)
  if (held === undefined) return false
  const hasRoom = held.length < state.heldMax
  note(state, hasRoom ? "held" : "lost", transit)
  if (hasRoom) held.push(step)
  return true
}

const arrive = (state: LinksState, transit: Transit): void => {
  if (state.rules.isBlocked(transit.from, transit.to)) return note(state, "lost", transit)
  if (isHeld(state, transit.to, transit, () => arrive(state, transit))) return
  note(state, "delivered", transit)
  transit.arrive()
}

const deliverDue = (state: LinksState): void => {
  const { onTheWay } = state
  const now = state.clock.monotonicTimeNanosUnsafe()
  for (let next = onTheWay[0]; next !== undefined && next.due <= now; next = onTheWay[0]) {
    onTheWay.shift()
    arrive(state, next.transit)
  }
}

const awaitDue = (state: LinksState, due: bigint): void => {
  const remaining = due - state.clock.monotonicTimeNanosUnsafe()
  if (remaining <= 0n) return deliverDue(state)
  // A timer may fire early; whole milliseconds, rounded up, always make progress.
  const millis = Number((remaining + nanosPerMilli - 1n) / nanosPerMilli)
  state.wakeAfter(millis, () => awaitDue(state, due))
}

const dueTime = (state: LinksState, transit: Transit, faults: LinkFaults, now: bigint): bigint => {
  const due = now + BigInt(drawDelay(state, faults)) * nanosPerMilli
  if (chance(state, faults.reorder)) return due
  const name = linkName(transit.from, transit.to)
  const latest = state.latestDue.get(name) ?? due
  const ordered = due > latest ? due : latest
  state.latestDue.set(name, ordered)
  return ordered
}

const transmit = (state: LinksState, transit: Transit): void => {
  const { from, to } = transit
  if (isHeld(state, from, transit, () => transmit(state, transit))) return
  const faults = state.rules.faultsOf(from, to)
  const isLost = state.rules.isBlocked(from, to) || chance(state, faults.loss)
  if (isLost) return note(state, "lost", transit)
  const isTwice = chance(state, faults.duplication)
  if (isTwice) note(state, "duplicated", transit)
  const now = state.clock.monotonicTimeNanosUnsafe()
  const dues = (isTwice ? [1, 2] : [1]).map(() => dueTime(state, transit, faults, now))
  for (const due of dues) {
    if (state.onTheWay.length >= state.onTheWayMax) {
      note(state, "lost", transit)
      continue
    }
    const place = lowerBound(state.onTheWay, (other) => other.due <= due)
    state.onTheWay.splice(place, 0, { due, transit })
    awaitDue(state, due)
  }
}

/** Makes links that hold nothing; a transmit is O(n) in the messages on the way. */
export const makeLinks = (options: LinksOptions): Links => {
  const { rules } = options
  const stalled = new Map<string, Array<() => void>>()
  const state: LinksState = { ...options, onTheWay: [], latestDue: new Map(), stalled }
  return {
    rules,
    transmit: (transit) => transmit(state, transit),
    stall: (node) => {
      if (!stalled.has(node)) stalled.set(node, [])
    },
    resume: (node) => {
      const held = stalled.get(node) ?? []
      stalled.delete(node)
      for (const step of held) step()
    },
    isOpen: (from, to) => !rules.isBlocked(from, to) && !stalled.has(from) && !stalled.has(to),
    drawDelay: (from, to) => drawDelay(state, rules.faultsOf(from, to))
  }
}
