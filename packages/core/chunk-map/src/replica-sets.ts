/**
 * Interned sets of slots: who holds the current version of a chunk.
 *
 * A slot is one registration of a device (`model.ts`). Set 0 is empty. The table only grows and a
 * number never changes its meaning, so states that share it stay valid; adding a slot to a set and
 * taking one out are remembered, so that each step of a report costs one lookup. `repack.ts` moves
 * all chunks to a new table when most sets are named by none.
 *
 * Neighbouring chunks are held by the same few sets, so the last steps are found again in a small
 * table of three numbers each, without a look into the maps.
 */
import { assertThat } from "./assertion.ts"

const SET_MAX = 2 ** 28 - 1
/** Steps in the table of the last ones; a power of two. */
const RECENT = 1024
/** Where a step stands in that table. */
const placeOf = (set: number, slot: number): number => 3 * ((set * 37 + slot) & (RECENT - 1))

/** The interner; shared by all states of one map. */
export class ReplicaSets {
  readonly #members: Array<ReadonlyArray<number>> = [[]]
  readonly #with: Array<Map<number, number> | undefined> = [undefined]
  readonly #without: Array<Map<number, number> | undefined> = [undefined]
  readonly #numbers = new Map<string, number>([["", 0]])
  /** Set, slot, and the set with it; the slot is -1 where nothing stands. */
  readonly #recent = new Int32Array(3 * RECENT).fill(-1)

  /** The number of distinct sets. */
  get size(): number {
    return this.#members.length
  }

  /** The slots of a set, rising. */
  members(set: number): ReadonlyArray<number> {
    return this.#members[set]!
  }

  /** Whether a slot is in a set. */
  has(set: number, slot: number): boolean {
    return this.#members[set]!.includes(slot)
  }

  /** The set with a slot more. */
  with(set: number, slot: number): number {
    const recent = this.#recent
    const place = placeOf(set, slot)
    if (recent[place] === set && recent[place + 1] === slot) return recent[place + 2]!
    const next = this.#withLookedUp(set, slot)
    recent[place] = set
    recent[place + 1] = slot
    recent[place + 2] = next
    return next
  }

  #withLookedUp(set: number, slot: number): number {
    const known = this.#with[set]?.get(slot)
    if (known !== undefined) return known
    const members = this.#members[set]!
    const next = members.includes(slot)
      ? set
      : this.#intern([...members, slot].sort((left, right) => left - right))
    const steps = this.#with[set] ?? new Map<number, number>()
    this.#with[set] = steps.set(slot, next)
    return next
  }

  /** The set with a slot less. */
  without(set: number, slot: number): number {
    if (set === 0) return 0
    const known = this.#without[set]?.get(slot)
    if (known !== undefined) return known
    const members = this.#members[set]!
    const next = members.includes(slot)
      ? this.#intern(members.filter((member) => member !== slot))
      : set
    const steps = this.#without[set] ?? new Map<number, number>()
    this.#without[set] = steps.set(slot, next)
    return next
  }

  #intern(members: ReadonlyArray<number>): number {
    const name = members.join(",")
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const set = this.#members.length
    assertThat(set <= SET_MAX, "there are more distinct replica sets than a row can name")
    this.#members.push(members)
    this.#with.push(undefined)
    this.#without.push(undefined)
    this.#numbers.set(name, set)
    return set
  }
}
