/**
 * Locate, search and list: reads of the map.
 *
 * Only devices whose copy of the committed version is verified are named, those heard a moment ago
 * first. A chunk without one is `not-ready` while safe mode is on or a device that may hold it has
 * not reported, after that `corrupt` when only bad copies are left, else `missing`.
 */
import { hasNoCopy } from "./chunks-without-copy.ts"
import type { Draft } from "./draft.ts"
import { allDevices } from "./devices.ts"
import type { ChunkKey, DeviceId } from "./identity.ts"
import { oddCopies } from "./odd.ts"
import { rowRecord, advance, newCursor, seek, seekFrom, type ChunkRecord } from "./packed-tree.ts"
import { inSafeMode } from "./safe-mode-view.ts"
import { COUNTED, countSlots, EXPECTED, LOCATED, ONLINE } from "./slots.ts"

/** Where a chunk is. */
export type Location =
  | {
      readonly _tag: "Found"
      readonly record: ChunkRecord
      readonly holders: ReadonlyArray<DeviceId>
    }
  | { readonly _tag: "NotReady"; readonly record: ChunkRecord }
  | { readonly _tag: "Missing"; readonly record: ChunkRecord }
  | { readonly _tag: "Corrupt"; readonly record: ChunkRecord }
  | { readonly _tag: "NoSuchChunk" }

/** The copies of the slot may be read, and its device was heard a moment ago. */
const HEARD = LOCATED | ONLINE

/** How well a committed chunk is held. */
export type ChunkHealth = "at-goal" | "below-goal" | "surplus" | "unknown" | "missing" | "corrupt"

/** One chunk of a listing. */
export interface ListedChunk {
  readonly record: ChunkRecord
  readonly copies: number
  readonly health: ChunkHealth
}

/** Devices that hold a set's copies and may be read, those heard a moment ago first, in turn. */
const holdersOf = (draft: Draft, set: number, turn: number): ReadonlyArray<DeviceId> => {
  const { flags, devices } = draft.slots
  const members = draft.sets.members(set)
  const nameOf = (slot: number): DeviceId => draft.deviceNames[devices[slot]!]!
  if (members.every((slot) => (flags[slot]! & HEARD) === HEARD)) {
    const first = turn % Math.max(1, members.length)
    // One list of the right length: lists that grow were most of what a lookup allocated.
    return members.map((_slot, at) => nameOf(members[(first + at) % members.length]!))
  }
  const located = members.filter((slot) => (flags[slot]! & LOCATED) !== 0)
  const online = located.filter((slot) => (flags[slot]! & ONLINE) !== 0)
  const silent = located.filter((slot) => (flags[slot]! & ONLINE) === 0)
  const first = turn % Math.max(1, online.length)
  return [...online.slice(first), ...online.slice(0, first), ...silent].map(nameOf)
}

/** Whether some device that may hold copies has not said so. */
export const someoneIsExpected = (draft: Draft): boolean =>
  inSafeMode(draft) ||
  allDevices(draft).some(
    (device) => device.desired !== "removed" && device.liveness !== "dead" && !device.serving
  )

const withoutHolder = (draft: Draft, record: ChunkRecord): Location => {
  const expected =
    inSafeMode(draft) || countSlots(draft.sets, draft.slots, record.set, EXPECTED) > 0
  if (expected || someoneIsExpected(draft)) return { _tag: "NotReady", record }
  const corrupt = oddCopies(draft, record).some(
    (copy) => copy.kind === "corrupt" && copy.version === record.version
  )
  return corrupt ? { _tag: "Corrupt", record } : { _tag: "Missing", record }
}

/**
 * Where a chunk is; O(log chunks). `turn` says which of the holders that were heard a moment ago
 * stands first: drawn for each request, it spreads reads over all of them, and no damage stays
 * unread behind a good copy.
 */
export const locate = (draft: Draft, key: ChunkKey, turn = 0): Location => {
  const { cursor } = draft
  if (!seek(draft.chunks, key.fileId, key.chunkId, cursor)) return { _tag: "NoSuchChunk" }
  const record = rowRecord(cursor.words, cursor.offset)
  const holders = holdersOf(draft, record.set, turn)
  return holders.length > 0 ? { _tag: "Found", record, holders } : withoutHolder(draft, record)
}

/** How well a chunk is held. */
export const healthOf = (draft: Draft, record: ChunkRecord): ChunkHealth => {
  if (hasNoCopy(draft, record.set)) {
    const { _tag } = withoutHolder(draft, record)
    return _tag === "NotReady" ? "unknown" : _tag === "Corrupt" ? "corrupt" : "missing"
  }
  const counted = countSlots(draft.sets, draft.slots, record.set, COUNTED)
  if (counted === record.goal) return "at-goal"
  return counted < record.goal ? "below-goal" : "surplus"
}

/** The committed chunks of a file strictly after a chunk id; `after` is -1 for all. */
export const listChunks = (
  draft: Draft,
  query: { readonly fileId: number; readonly after: number; readonly limit: number }
): { readonly chunks: ReadonlyArray<ListedChunk>; readonly more: boolean } => {
  const chunks: Array<ListedChunk> = []
  const cursor = newCursor()
  let here = seekFrom(draft.chunks, { fileId: query.fileId, chunkId: query.after + 1 }, cursor)
  while (here) {
    const record = rowRecord(cursor.words, cursor.offset)
    if (record.fileId !== query.fileId) break
    if (chunks.length >= query.limit) return { chunks, more: true }
    const copies = countSlots(draft.sets, draft.slots, record.set, LOCATED)
    chunks.push({ record, copies, health: healthOf(draft, record) })
    here = advance(draft.chunks, cursor)
  }
  return { chunks, more: false }
}
