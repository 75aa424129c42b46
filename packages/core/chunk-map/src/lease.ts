/** Reservations: bytes kept on devices for a chunk that is being written. */
import { queueDeletion } from "./deletions.ts"
import { deviceAt, deviceOfSlot } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { COMMITTED } from "./figures.ts"
import { judgeOddAnew } from "./merge.ts"
import type { Device, FileMark, Lease } from "./model.ts"
import { dropOdd, oddCopies } from "./odd.ts"
import { lastChunkId } from "./packed-tree.ts"

const noMark: FileMark = { next: 0, openLeases: 0, durable: false }

/** The reservations that are open on a device; O(open leases). */
export const openLeasesOn = (draft: Draft, device: Device): ReadonlyArray<Lease> =>
  draft.leases
    .slice(draft.leases.size)
    .map(([, lease]) => lease)
    .filter(({ devices }) => devices.includes(device.index))

/** The next chunk id of a file that neither a record nor a lease nor a freed chunk has used. */
export const nextChunkId = (draft: Draft, fileId: number): number =>
  Math.max(draft.fileMarks.get(fileId)?.next ?? 0, lastChunkId(draft.chunks, fileId) + 1)

/** Opens a lease: its bytes are committed on each of its devices. */
export const openLease = (draft: Draft, lease: Lease): void => {
  draft.leases.set(lease.version, lease)
  for (const device of lease.devices) draft.figures.add(device, COMMITTED, lease.size)
  const mark = draft.fileMarks.get(lease.fileId) ?? noMark
  draft.fileMarks.set(lease.fileId, {
    next: Math.max(mark.next, lease.chunkId + 1),
    openLeases: mark.openLeases + 1,
    durable: mark.durable
  })
}

/** Gives back what a lease reserved. */
export const closeLease = (draft: Draft, lease: Lease): void => {
  draft.leases.delete(lease.version)
  for (const device of lease.devices) draft.figures.add(device, COMMITTED, -lease.size)
  const mark = draft.fileMarks.get(lease.fileId)
  if (mark === undefined) return
  const openLeases = mark.openLeases - 1
  if (openLeases <= 0 && !mark.durable) draft.fileMarks.delete(lease.fileId)
  else draft.fileMarks.set(lease.fileId, { next: mark.next, openLeases, durable: mark.durable })
}

/**
 * Ends a lease that was not published: what was written under it is deleted. Its version can never
 * be committed any more, so no copy of it is one that anybody may want.
 */
export const abandonLease = (draft: Draft, lease: Lease): void => {
  closeLease(draft, lease)
  const { fileId, chunkId, version } = lease
  for (const odd of oddCopies(draft, lease)) {
    const device = odd.version === version ? deviceOfSlot(draft, odd.slot) : undefined
    if (device === undefined) continue
    dropOdd(draft, lease, odd.slot, version)
    const { length, checksum, slot } = odd
    const copy = { fileId, chunkId, version, length, checksum }
    queueDeletion(draft, { device: device.index, copy, reason: "abandoned", heldBy: slot })
  }
  judgeOddAnew(draft, lease)
  for (const index of lease.devices) {
    if (deviceAt(draft, index)?.serving !== true) continue
    const copy = { fileId, chunkId, version, length: 0, checksum: 0 }
    queueDeletion(draft, { device: index, copy, reason: "abandoned", heldBy: -1 })
  }
}

/** Ends the leases whose time is over; they lie in the order of their ids, and so of their age. */
export const expireLeases = (draft: Draft): void => {
  for (;;) {
    const oldest = draft.leases.slice(100)
    const over = oldest.filter(([, lease]) => lease.expiresAt <= draft.now)
    for (const [, lease] of over) abandonLease(draft, lease)
    if (over.length < 100) return
  }
}

/**
 * Keeps the number of a freed chunk from being used again in its file. At most `freedMax` files are
 * kept in mind, those created first are forgotten first; a version is never used twice in any case.
 */
export const keepChunkId = (draft: Draft, fileId: number, chunkId: number): void => {
  if (chunkId <= lastChunkId(draft.chunks, fileId)) return
  const mark = draft.fileMarks.get(fileId) ?? noMark
  draft.fileMarks.set(fileId, {
    ...mark,
    next: Math.max(mark.next, chunkId + 1),
    durable: true
  })
  if (draft.fileMarks.size <= draft.settings.freedMax) return
  for (const [oldest, { openLeases }] of draft.fileMarks.slice(1)) {
    if (openLeases === 0) draft.fileMarks.delete(oldest)
  }
}
