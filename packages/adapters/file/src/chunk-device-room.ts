/**
 * The room of one device: what finished copies use and what writes in progress have reserved.
 *
 * 1. used + reserved never passes the capacity less the floor, nor the disk's free space less it.
 * 2. Bytes that a write has put on the disk already are counted once: the disk's own figure of
 *    free space knows them, so only the rest of a reservation is taken off it.
 */
import { fileBytes } from "./block-file-format.ts"

/** What the disk says of itself, in bytes. */
export interface DiskSpace {
  readonly total: number
  readonly free: number
}

/** Room for one copy being written. */
export interface RoomReservation {
  /** Takes note of bytes that are on the disk now. */
  readonly written: (bytes: number) => void
  /** Gives back what was not used; once is enough, more does no harm. */
  readonly release: () => void
}

/** The accounts of one device. */
export interface DeviceRoom {
  /** Bytes that may still be reserved; never negative. */
  readonly available: (space: DiskSpace) => number
  readonly capacity: (space: DiskSpace) => number
  readonly reserve: (bytes: number) => RoomReservation
  /** A copy came. */
  readonly add: (bytes: number) => void
  /** A copy went. */
  readonly remove: (bytes: number) => void
  readonly used: () => number
  readonly copies: () => number
}

/** Bytes of a copy that are no data, at worst. */
const overhead = (bytes: number): number => fileBytes(bytes) - bytes

/** Opens the accounts. */
export const deviceRoom = (limits: {
  readonly reservedBytes: number
  readonly capacityBytes: number
}): DeviceRoom => {
  let used = 0
  let copies = 0
  let reserved = 0
  let unwritten = 0
  const capacity = (space: DiskSpace) => Math.min(space.total, limits.capacityBytes)
  return {
    capacity,
    available: (space) => {
      const onDisk = Math.max(0, space.free - unwritten - limits.reservedBytes)
      const inCapacity = capacity(space) - used - reserved - limits.reservedBytes
      return Math.max(0, Math.min(onDisk - overhead(onDisk), inCapacity))
    },
    reserve: (bytes) => {
      let rest = bytes + overhead(bytes)
      let isOpen = true
      reserved += bytes
      unwritten += rest
      return {
        written: (count) => {
          if (!isOpen) return
          const part = Math.min(count, rest)
          rest -= part
          unwritten -= part
        },
        release: () => {
          if (!isOpen) return
          isOpen = false
          reserved -= bytes
          unwritten -= rest
        }
      }
    },
    add: (bytes) => {
      used += bytes
      copies += 1
    },
    remove: (bytes) => {
      used -= bytes
      copies -= 1
    },
    used: () => used,
    copies: () => copies
  }
}
