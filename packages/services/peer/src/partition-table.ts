/**
 * The partitions in memory, each as it is and as it was saved.
 *
 *     current ──▶ what the last job made of it
 *     saved   ──▶ what the store holds; only this leaves the process
 *
 * 1. What leaves the process was saved before.
 * 2. A partition that nobody waits for, whose current state is saved, may leave memory.
 */
import type { EventId, Report } from "@holdfast/power-state"
import type { Address } from "./address.ts"
import { addressText } from "./address.ts"
import type { Replica } from "./replica.ts"

/** Somebody waits until so many participants hold an entry. */
export interface HoldersWaiter {
  readonly id: EventId
  readonly needed: number
  /** When the wait ends anyway, monotonic milliseconds. */
  readonly expiresAt: number
  readonly reached: (count: number) => void
}

/** What a peer is known to hold of a partition, and in which of its starts it said so. */
export interface Known {
  readonly report: Report
  readonly boot: number
}

/** A partition in memory. */
export interface Resident {
  readonly address: Address
  current: Replica | null
  saved: Replica | null
  /** The stored bytes cannot be read; nothing is done to it until it is fetched again. */
  isDamaged: boolean
  /** A write of this peer is not passed on yet. */
  isWriter: boolean
  /** Since when the current state is not the saved one, monotonic milliseconds. */
  unsavedSince: number
  /** When it was last used, monotonic milliseconds. */
  usedAt: number
  readonly waiters: Set<HoldersWaiter>
  /** The digest that each peer is known to hold. */
  readonly told: Map<string, string>
  /** What each peer is known to hold: diffs are made against it. */
  readonly known: Map<string, Known>
}

/** The table of partitions in memory. */
export class PartitionTable {
  readonly #residents = new Map<string, Resident>()
  readonly #awaited = new Set<Resident>()

  get size(): number {
    return this.#residents.size
  }

  find(address: Address): Resident | undefined {
    return this.#residents.get(addressText(address))
  }

  /** Takes in what the store holds of a partition. */
  admit(
    address: Address,
    stored: { readonly replica: Replica | null; readonly isDamaged: boolean },
    now: number
  ): Resident {
    const resident: Resident = {
      address,
      current: stored.replica,
      saved: stored.replica,
      isDamaged: stored.isDamaged,
      isWriter: false,
      unsavedSince: now,
      usedAt: now,
      waiters: new Set(),
      told: new Map(),
      known: new Map()
    }
    this.#residents.set(addressText(address), resident)
    return resident
  }

  /** Lets go of what is idle since before `idleSince`, and of the longest idle above `max`. */
  evict(options: { readonly idleSince: number; readonly max: number }): void {
    const idle = [...this.#residents.values()].filter(
      ({ current, saved, waiters }) => current === saved && waiters.size === 0
    )
    let excess = this.#residents.size - options.max
    for (const resident of idle.sort((left, right) => left.usedAt - right.usedAt)) {
      if (resident.usedAt >= options.idleSince && excess <= 0) return
      this.#residents.delete(addressText(resident.address))
      excess -= 1
    }
  }

  /** Those whose current state is not saved, and was not since `before`. */
  unsaved(before: number): ReadonlyArray<Resident> {
    return [...this.#residents.values()].filter(
      ({ current, saved, unsavedSince }) => current !== saved && unsavedSince <= before
    )
  }

  values(): Iterable<Resident> {
    return this.#residents.values()
  }

  /** Somebody waits for holders of an entry of this partition. */
  addWaiter(resident: Resident, waiter: HoldersWaiter): void {
    resident.waiters.add(waiter)
    this.#awaited.add(resident)
  }

  /** Ends the waits that have lasted their time. */
  expireWaiters(now: number): void {
    for (const resident of this.#awaited) {
      for (const waiter of resident.waiters) {
        if (waiter.expiresAt > now) continue
        resident.waiters.delete(waiter)
        waiter.reached(resident.current?.holders(waiter.id).length ?? 0)
      }
      if (resident.waiters.size === 0) this.#awaited.delete(resident)
    }
  }
}

/** Tells those who wait that enough participants hold their entries. */
export const wakeWaiters = (resident: Resident): void => {
  const replica = resident.current
  if (replica === null || resident.waiters.size === 0) return
  for (const waiter of resident.waiters) {
    const count = replica.holders(waiter.id).length
    if (count < waiter.needed) continue
    resident.waiters.delete(waiter)
    waiter.reached(count)
  }
}
