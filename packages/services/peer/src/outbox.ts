/**
 * What waits to be told to the other peers.
 *
 * 1. A partition waits at most once for a peer: what is sent is its state at that moment.
 * 2. At most `max` partitions wait for a peer; what is turned away is found by gossip.
 */
import type { PeerId } from "@holdfast/keyspace"
import { Effect, Latch } from "effect"
import type { Address } from "./address.ts"
import { addressText } from "./address.ts"

/** What waits for one peer. */
export interface Outbox {
  readonly peer: PeerId
  /** Puts a partition in; false when there is no room. */
  readonly offer: (address: Address) => boolean
  /** Waits for something, and takes at most `max` in the order they came. */
  readonly take: (max: number) => Effect.Effect<ReadonlyArray<Address>>
  readonly size: () => number
  /** How many were turned away. */
  readonly refused: () => number
}

/** An empty outbox. */
export const makeOutbox = (peer: PeerId, max: number): Outbox => {
  const waiting = new Map<string, Address>()
  const latch = Latch.makeUnsafe(false)
  let refused = 0
  const takeNow = (count: number): ReadonlyArray<Address> => {
    const taken: Array<Address> = []
    for (const [text, address] of waiting) {
      if (taken.length === count) break
      waiting.delete(text)
      taken.push(address)
    }
    if (waiting.size === 0) latch.closeUnsafe()
    return taken
  }
  const take = (count: number): Effect.Effect<ReadonlyArray<Address>> =>
    Effect.flatMap(latch.await, () => {
      const taken = takeNow(count)
      return taken.length === 0 ? take(count) : Effect.succeed(taken)
    })
  const outbox: Outbox = {
    peer,
    offer: (address) => {
      const text = addressText(address)
      if (!waiting.has(text) && waiting.size >= max) {
        refused += 1
        return false
      }
      if (!waiting.has(text)) waiting.set(text, address)
      latch.openUnsafe()
      return true
    },
    take,
    size: () => waiting.size,
    refused: () => refused
  }
  return outbox
}
