/**
 * Spread: on how many hosts and racks the copies of a chunk stand.
 *
 * 1. Copies are on distinct devices always, on distinct hosts while there are hosts without one,
 *    and then on distinct racks while there are racks without one.
 * 2. Where hosts or racks are fewer than the goal, they are used again: nothing is refused, and
 *    nothing waits, for want of spread.
 * 3. Only devices that may take new copies are places: one that is dead, frozen or draining makes
 *    no chunk badly spread.
 * 4. Hosts that name no rack stand in one rack together.
 */
import { candidates, deviceOfSlot } from "./devices.ts"
import type { Draft } from "./draft.ts"
import type { Device } from "./model.ts"
import { COUNTED } from "./slots.ts"

/** The hosts and racks that take new copies. */
export interface Places {
  readonly hosts: ReadonlySet<string | null>
  readonly racks: ReadonlySet<string>
}

const hostOf = (device: Device): string | null => device.hostId
const rackOf = (device: Device): string => device.rack

/** The hosts and racks that take new copies now; kept until a device changes. */
const placesNow = (draft: Draft): Places => {
  if (draft.places === null) {
    const open = candidates(draft)
    draft.places = { hosts: new Set(open.map(hostOf)), racks: new Set(open.map(rackOf)) }
  }
  return draft.places
}

/** How far a place is from those that hold a copy: 0 on another rack, 1 another host, 2 neither. */
export const distanceRank = (device: Device, holders: ReadonlyArray<Device>): 0 | 1 | 2 => {
  let rank: 0 | 1 = 0
  for (const holder of holders) {
    if (holder.hostId === device.hostId) return 2
    if (holder.rack === device.rack) rank = 1
  }
  return rank
}

/** The holders of a set whose copies count. */
export const countedHolders = (draft: Draft, set: number): ReadonlyArray<Device> => {
  const holders: Array<Device> = []
  for (const slot of draft.sets.members(set)) {
    if ((draft.slots.flags[slot]! & COUNTED) === 0) continue
    const device = deviceOfSlot(draft, slot)
    if (device !== undefined) holders.push(device)
  }
  return holders
}

const hasAnother = <A>(open: ReadonlySet<A>, used: ReadonlySet<A>): boolean => {
  let among = 0
  for (const place of used) if (open.has(place)) among++
  return open.size > among
}

/** Whether copies that are enough could stand on more hosts or racks. O(goal). */
export const isBadlySpread = (draft: Draft, holders: ReadonlyArray<Device>): boolean => {
  const hosts = new Set(holders.map(hostOf))
  const racks = new Set(holders.map(rackOf))
  if (hosts.size === holders.length && racks.size === holders.length) return false
  const open = placesNow(draft)
  return (
    (hosts.size < holders.length && hasAnother(open.hosts, hosts)) ||
    (racks.size < holders.length && hasAnother(open.racks, racks))
  )
}

/** Whether one copy more on this device would let a surplus one go and the spread be better. */
export const improvesSpread = (device: Device, holders: ReadonlyArray<Device>): boolean => {
  const rank = distanceRank(device, holders)
  if (rank === 2) return false
  const racks = new Set(holders.map(rackOf)).size
  return rank === 0 && racks < holders.length
    ? true
    : new Set(holders.map(hostOf)).size < holders.length
}

/** How much spread the others keep without a holder: 2 all of it, 1 all hosts, 0 not even these. */
export const sparedBy = (device: Device, holders: ReadonlyArray<Device>): 0 | 1 | 2 => {
  let spared: 0 | 1 = 0
  for (const other of holders) {
    if (other === device) continue
    if (other.hostId === device.hostId) return 2
    if (other.rack === device.rack) spared = 1
  }
  return spared
}
