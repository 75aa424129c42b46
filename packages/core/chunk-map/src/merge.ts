/**
 * The merge of a copy on a device into the map: what the committed record makes of it.
 *
 * | record | copy on the device | it becomes |
 * |---|---|---|
 * | version v | v, same length and checksum | valid |
 * | version v | v, other bytes | corrupt, alarm |
 * | version v | lower | stale: deleted once enough assured copies of v exist |
 * | version v | higher, an open lease allots it | uncommitted |
 * | version v | higher, given out, no lease | unknown: quarantine |
 * | version v | higher, never given out | future: kept, and no copy of the chunk is deleted |
 * | none, freed up to v | at most v | deleted |
 * | none | an open lease allots it | uncommitted |
 * | none | anything else | unknown: quarantine |
 *
 * 1. No arriving copy ever takes another copy out of a replica set.
 * 2. A copy that arrives again changes nothing, so reports and receipts may repeat.
 * 3. A copy that was found bad stays corrupt in its slot, whatever is said of its length and
 *    checksum: these are what was written, not what can be read.
 */
import type { Draft } from "./draft.ts"
import { queueDeletion, dropDeletion } from "./deletions.ts"
import { deviceOfOpenSlot } from "./devices.ts"
import { identityMax, type ChunkCopy } from "./identity.ts"
import type { CopyKey, Deletion, Device, OddKind } from "./model.ts"
import { dropOdd, oddCopies, putOdd, takeOdd } from "./odd.ts"
import {
  rowChecksum,
  rowGoal,
  rowLength,
  rowSet,
  rowVersion,
  seek,
  type Cursor
} from "./packed-tree.ts"
import { putUnknown } from "./quarantine.ts"

/** How a copy reached the map. */
export interface Arrival {
  /** The slot that holds it. */
  readonly slot: number
  /** It is part of a full report that is not complete. */
  readonly reported: boolean
  /** The digest of the device counts it already. */
  readonly counted: boolean
  /** It was found to be bad, and is judged anew only because its chunk changed. */
  readonly bad?: boolean
}

/** What a copy became. */
export type Verdict = "valid" | "deleting" | "freed" | "unknown" | OddKind

/** Changes the replica set of the chunk under the cursor. */
export const setReplicas = (draft: Draft, cursor: Cursor, set: number): void => {
  const before = rowSet(cursor.words, cursor.offset)
  if (before === set) return
  const goal = rowGoal(cursor.words, cursor.offset)
  draft.counts.add(before, goal, -1)
  draft.counts.add(set, goal, 1)
  draft.chunks.putSet(cursor, set)
}

/** Whether the version was given out, as far as the journal knows. */
export const wasGivenOut = (draft: Draft, fileId: number, version: number): boolean =>
  fileId < draft.scalars.nextFileId && version < draft.scalars.nextVersion

const count = (draft: Draft, device: Device, copy: ChunkCopy, arrival: Arrival): void => {
  if (!arrival.counted) draft.figures.hold(device.index, copy, 1, arrival.reported)
}

/**
 * What is remembered of a copy by one slot goes to the report under way that names it: the digest
 * of the present slot lets it go, as a recount does.
 */
const passToReport = (
  draft: Draft,
  device: Device,
  copy: ChunkCopy,
  from: { readonly slot: number; readonly to: number }
): void => {
  if (!device.serving || from.slot !== device.slot || from.slot === from.to) return
  draft.figures.hold(device.index, copy, -1, false)
}

/** A deletion that is told or waits has the copy in hand, in whichever slot it arrived last. */
const heldInDeletion = (
  draft: Draft,
  device: Device,
  copy: ChunkCopy,
  arrival: Arrival,
  deletion: Deletion
): void => {
  if (deletion.heldBy === arrival.slot) return
  passToReport(draft, device, copy, { slot: deletion.heldBy, to: arrival.slot })
  count(draft, device, copy, arrival)
  const key: CopyKey = { ...versionOf(copy), device: device.index }
  draft.deletions.set(key, { ...deletion, heldBy: arrival.slot })
}

/** Merges a copy into the map; see the module comment. O(log chunks). */
export const takeCopy = (
  draft: Draft,
  device: Device,
  copy: ChunkCopy,
  arrival: Arrival
): Verdict => {
  const { cursor } = draft
  if (!seek(draft.chunks, copy.fileId, copy.chunkId, cursor)) {
    return takeUnrecorded(draft, device, copy, arrival)
  }
  const version = rowVersion(cursor.words, cursor.offset)
  if (copy.version === version) return takeCurrent(draft, device, copy, arrival)
  if (copy.version > version) return takeHigher(draft, device, copy, arrival)
  return setAside(draft, device, copy, arrival, "stale")
}

const takeCurrent = (draft: Draft, device: Device, copy: ChunkCopy, arrival: Arrival): Verdict => {
  const { cursor, sets } = draft
  if (draft.deletions.size > 0 && isBeingDeleted(draft, device, copy, arrival)) return "deleting"
  if (arrival.bad === true) return keepBad(draft, copy, arrival)
  if (isKnownBad(draft, copy, arrival)) return "corrupt"
  const set = rowSet(cursor.words, cursor.offset)
  const same =
    copy.length === rowLength(cursor.words, cursor.offset) &&
    copy.checksum === rowChecksum(cursor.words, cursor.offset)
  if (!same) {
    const wasValid = sets.has(set, arrival.slot)
    setReplicas(draft, cursor, sets.without(set, arrival.slot))
    return setAside(
      draft,
      device,
      copy,
      { ...arrival, counted: arrival.counted || wasValid },
      "corrupt"
    )
  }
  const wasOdd = draft.odd.size > 0 && dropOdd(draft, copy, arrival.slot, copy.version)
  if (sets.has(set, arrival.slot)) return "valid"
  if (!wasOdd) count(draft, device, copy, arrival)
  setReplicas(draft, cursor, sets.with(set, arrival.slot))
  return "valid"
}

/** Whether the same slot's copy of these bytes was found to be bad. */
const isKnownBad = (draft: Draft, copy: ChunkCopy, { slot }: Arrival): boolean =>
  oddCopies(draft, copy).some(
    (odd) =>
      odd.kind === "corrupt" &&
      odd.slot === slot &&
      odd.version === copy.version &&
      odd.length === copy.length &&
      odd.checksum === copy.checksum
  )

const keepBad = (draft: Draft, copy: ChunkCopy, { slot }: Arrival): Verdict => {
  const { checksum, length, version } = copy
  putOdd(draft, copy, { slot, version, length, checksum, kind: "corrupt" })
  return "corrupt"
}

/** A told deletion takes the copy whatever it is; one that still waits is superseded. */
const isBeingDeleted = (
  draft: Draft,
  device: Device,
  copy: ChunkCopy,
  arrival: Arrival
): boolean => {
  const key: CopyKey = { ...versionOf(copy), device: device.index }
  const deletion = draft.deletions.get(key)
  if (deletion === undefined) return false
  if (deletion.commandId === 0) {
    dropDeletion(draft, key, deletion)
    if (deletion.heldBy === arrival.slot && !arrival.counted) {
      draft.figures.hold(device.index, copy, -1, arrival.reported)
    }
    passToReport(draft, device, copy, { slot: deletion.heldBy, to: arrival.slot })
    return false
  }
  heldInDeletion(draft, device, copy, arrival, deletion)
  return true
}

const sentenceOf = ({ deviceId }: Device, { fileId, chunkId, version }: ChunkCopy): string =>
  `device ${deviceId} holds chunk ${fileId}/${chunkId} at version ${version}`

const versionOf = ({ fileId, chunkId, version }: ChunkCopy) => ({ fileId, chunkId, version })

const setAside = (
  draft: Draft,
  device: Device,
  copy: ChunkCopy,
  arrival: Arrival,
  kind: OddKind
): Verdict => {
  const key: CopyKey = { ...versionOf(copy), device: device.index }
  const deletion = draft.deletions.get(key)
  if (deletion !== undefined) {
    heldInDeletion(draft, device, copy, arrival, deletion)
    return "deleting"
  }
  const { length, checksum, version } = copy
  const known = putOdd(draft, copy, { slot: arrival.slot, version, length, checksum, kind })
  if (known) return kind
  count(draft, device, copy, arrival)
  if (kind === "corrupt") {
    draft.alarms.push({
      kind: "corrupt-copy",
      subject: device.deviceId,
      message: `${sentenceOf(device, copy)} with other bytes than were committed`
    })
  }
  if (kind === "future") noteFuture(draft, device, copy, arrival)
  return kind
}

const takeHigher = (draft: Draft, device: Device, copy: ChunkCopy, arrival: Arrival): Verdict => {
  if (isLeased(draft, copy)) return setAside(draft, device, copy, arrival, "uncommitted")
  if (!wasGivenOut(draft, copy.fileId, copy.version)) {
    return setAside(draft, device, copy, arrival, "future")
  }
  return takeUnknown(draft, device, copy, arrival, false)
}

const isLeased = (draft: Draft, copy: ChunkCopy): boolean => {
  const lease = draft.leases.get(copy.version)
  return lease?.fileId === copy.fileId && lease.chunkId === copy.chunkId
}

const takeUnrecorded = (
  draft: Draft,
  device: Device,
  copy: ChunkCopy,
  arrival: Arrival
): Verdict => {
  const freed = draft.freed.size === 0 ? undefined : draft.freed.get(copy)
  if (freed !== undefined && copy.version <= freed.version) {
    const key: CopyKey = { ...versionOf(copy), device: device.index }
    const deletion = draft.deletions.get(key)
    if (deletion === undefined) count(draft, device, copy, arrival)
    else heldInDeletion(draft, device, copy, arrival, deletion)
    queueDeletion(draft, {
      device: device.index,
      copy,
      reason: "freed",
      heldBy: arrival.slot
    })
    return "freed"
  }
  if (isLeased(draft, copy)) return setAside(draft, device, copy, arrival, "uncommitted")
  const future = !wasGivenOut(draft, copy.fileId, copy.version)
  return takeUnknown(draft, device, copy, arrival, future)
}

const takeUnknown = (
  draft: Draft,
  device: Device,
  copy: ChunkCopy,
  arrival: Arrival,
  future: boolean
): Verdict => {
  const key: CopyKey = { ...versionOf(copy), device: device.index }
  const deletion = draft.deletions.get(key)
  if (deletion !== undefined) {
    heldInDeletion(draft, device, copy, arrival, deletion)
    return "deleting"
  }
  const before = draft.quarantine.get(key)
  if (putUnknown(draft, device, copy, { slot: arrival.slot, future }) === "known") return "unknown"
  if (before !== undefined) {
    passToReport(draft, device, copy, { slot: before.slot, to: arrival.slot })
  }
  count(draft, device, copy, arrival)
  if (future) noteFuture(draft, device, copy, arrival)
  return "unknown"
}

const noteFuture = (draft: Draft, device: Device, copy: ChunkCopy, arrival: Arrival): void => {
  const { scalars } = draft
  // A number in the upper half of the range was invented, not given out by a younger journal: the
  // marks are never lifted above it, or one such copy would use up all numbers.
  if (Math.max(copy.fileId, copy.version) <= identityMax / 2) {
    scalars.seenFileId = Math.max(scalars.seenFileId, copy.fileId)
    scalars.seenVersion = Math.max(scalars.seenVersion, copy.version)
  }
  draft.figures.holdFuture(device.index, copy.length, arrival.reported)
  draft.alarms.push({
    kind: "future-copy",
    subject: device.deviceId,
    message: `${sentenceOf(device, copy)}, which this journal never gave out`
  })
}

/** Judges the odd copies of a chunk anew, after its record or a lease on it changed. */
export const judgeOddAnew = (draft: Draft, key: { fileId: number; chunkId: number }): void => {
  if (draft.odd.size === 0) return
  const { fileId, chunkId } = key
  for (const copy of takeOdd(draft, key)) {
    const device = deviceOfOpenSlot(draft, copy.slot)
    if (device === undefined) continue
    const { version, length, checksum } = copy
    takeCopy(
      draft,
      device,
      { fileId, chunkId, version, length, checksum },
      {
        slot: copy.slot,
        reported: device.slot !== copy.slot,
        counted: true,
        bad: copy.kind === "corrupt"
      }
    )
  }
}
