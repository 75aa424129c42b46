/**
 * Placement: which devices take the copies of a chunk, drawn from few sets of devices.
 *
 * ```
 *   ring r    the devices in the order of hash(r, device), a circle; `placementRings` of them
 *   set (r, d)  d, then clockwise from d those that are furthest apart, as many as are wanted
 * ```
 * 1. Devices are always distinct, hosts and racks while unused ones are eligible (`spread.ts`);
 *    after that they are used again rather than anything refused.
 * 2. For one number of copies there are at most `placementRings` sets for each device (Copysets):
 *    the fewer sets there are, the smaller the chance that devices which die together held all
 *    copies of some chunk, and the smaller the table of replica sets.
 * 3. A device that comes or goes changes no set but those that it enters or leaves.
 * 4. Of two random sets the one whose fullest device has more free room is taken (power of two
 *    choices), so that full devices fill slowly without all writers meeting on the emptiest.
 * 5. Repair and balancing choose among the next devices of a holder in each ring, so that the sets
 *    stay few; only when none of those can take a copy, among all.
 */
import { candidates } from "./devices.ts"
import type { Draft } from "./draft.ts"
import type { Device } from "./model.ts"
import { freeShare } from "./room.ts"
import { distanceRank } from "./spread.ts"

/** Spreads the bits of a number (the finish of MurmurHash3). */
const mix = (value: number): number => {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const placeIn = (ring: number, device: Device): number =>
  mix((device.ringSeed + Math.imul(ring + 1, 0x9e3779b9)) | 0)

/** Of some devices the next one clockwise from a place, of those that are furthest apart. */
const nextOf = (
  ring: number,
  from: Device,
  among: ReadonlyArray<Device>,
  holders: ReadonlyArray<Device>
): Device | undefined => {
  const start = placeIn(ring, from)
  let best: Device | undefined
  let bestRank = 3
  let bestWay = 0
  for (const device of among) {
    if (holders.some(({ index }) => index === device.index)) continue
    const rank = distanceRank(device, holders)
    if (rank > bestRank) continue
    const way = (placeIn(ring, device) - start) >>> 0
    if (rank < bestRank || way < bestWay) {
      best = device
      bestRank = rank
      bestWay = way
    }
  }
  return best
}

/** The set of a ring and a device, fewer than wanted at need. O(wanted x devices). */
export const placementSet = (
  eligible: ReadonlyArray<Device>,
  at: { readonly ring: number; readonly first: Device },
  want: number
): ReadonlyArray<Device> => {
  const chosen = [at.first]
  while (chosen.length < want) {
    const next = nextOf(at.ring, at.first, eligible, chosen)
    if (next === undefined) break
    chosen.push(next)
  }
  return chosen
}

/** Draws a set for a new chunk; `next` gives 32 random bits. */
export const drawSet = (
  draft: Draft,
  eligible: ReadonlyArray<Device>,
  want: number,
  next: () => number
): ReadonlyArray<Device> => {
  const { placementRings } = draft.settings
  const draw = () => {
    const first = eligible[next() % eligible.length]!
    return placementSet(eligible, { first, ring: next() % placementRings }, want)
  }
  const least = (set: ReadonlyArray<Device>) =>
    Math.min(...set.map((device) => freeShare(draft, device)))
  const one = draw()
  const other = draw()
  return least(other) > least(one) ? other : one
}

/**
 * The devices that one copy more of a chunk should go to: in each ring the next one of its first
 * holder. All that take new chunks, where these are not more than the rings.
 */
export const neighbours = (draft: Draft, holders: ReadonlyArray<Device>): ReadonlyArray<Device> => {
  const open = candidates(draft)
  const [first] = holders
  const { placementRings } = draft.settings
  if (first === undefined || open.length <= placementRings) return open
  const found = new Set<Device>()
  for (let ring = 0; ring < placementRings; ring++) {
    const next = nextOf(ring, first, open, holders)
    if (next !== undefined) found.add(next)
  }
  return [...found]
}
