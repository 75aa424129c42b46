/**
 * Free: versions of chunks up to a given one are gone for good.
 *
 * 1. It is in the journal before the answer leaves, also in safe mode; copies that are reported
 *    later meet the record of it.
 * 2. A chunk whose committed version is newer is not touched.
 * 3. The record of a freed chunk goes when every known device has reported and every deletion of a
 *    copy is acknowledged (`settleFreed`).
 */
import * as Result from "effect/Result"
import { deviceOfOpenSlot, knowledgeIsFull } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { compareChunks, type ChunkKey, type ChunkVersion, keyBehind } from "./identity.ts"
import { abandonLease, keepChunkId } from "./lease.ts"
import { judgeOddAnew, takeCopy } from "./merge.ts"
import type { Freed, FreeResult } from "./model.ts"
import { findRecord, type ChunkRecord } from "./packed-tree.ts"
import { dropFromRepair } from "./repair-class.ts"
import { refuse, type Refusal } from "./refusal.ts"
import { recall, remember } from "./requests.ts"

/** Frees versions of chunks up to the given ones. */
export interface Free {
  readonly requestId: string | null
  readonly chunks: ReadonlyArray<ChunkVersion>
}

/** Frees chunks; see the module comment. */
export const free = (
  draft: Draft,
  command: Free
): Result.Result<ReadonlyArray<FreeResult>, Refusal> => {
  const known = recall(draft, command.requestId)
  if (known?._tag === "Free") return Result.succeed(known.reply)
  const { freedMax } = draft.settings
  if (draft.freed.size + command.chunks.length > freedMax) forgetSome(draft, command.chunks.length)
  if (draft.freed.size + command.chunks.length > freedMax) {
    const wait = draft.settings.heartbeatMs
    return refuse("overloaded", `${draft.freed.size} freed chunks wait for their devices`, wait)
  }
  const reply = command.chunks.map((chunk) => freeOne(draft, chunk))
  remember(draft, command.requestId, { _tag: "Free", reply })
  return Result.succeed(reply)
}

/**
 * Forgets freed chunks of which no known copy is left, although some device has not reported: what
 * it still holds of them is unknown then, and goes by the quarantine.
 */
const forgetSome = (draft: Draft, count: number): void => {
  for (const [key, freed] of draft.freed.slice(4 * count)) {
    if (freed.pending === 0) settle(draft, key, freed)
  }
}

const settle = (draft: Draft, { fileId, chunkId }: ChunkKey, { version }: Freed): void => {
  draft.freed.delete({ fileId, chunkId })
  draft.journal.push({ _tag: "Settled", fileId, chunkId, version })
}

const freeOne = (draft: Draft, chunk: ChunkVersion): FreeResult => {
  const record = findRecord(draft.chunks, chunk)
  const freed = draft.freed.get(chunk)
  if (record === undefined) {
    return freed !== undefined && freed.version >= chunk.version ? "freed" : "no-such-chunk"
  }
  if (record.version > chunk.version) return "newer-version"
  endLeases(draft, chunk)
  const { fileId, chunkId } = chunk
  forgetRecord(draft, { fileId, chunkId, version: chunk.version })
  draft.journal.push({ _tag: "Freed", fileId, chunkId, version: chunk.version })
  const { version, length, checksum } = record
  for (const slot of draft.sets.members(record.set)) {
    const device = deviceOfOpenSlot(draft, slot)
    if (device === undefined) continue
    // What a device that must report again held before comes with its report; a copy that a report
    // under way has named already does not come again.
    if (device.slot === slot && !device.serving) continue
    const copy = { fileId, chunkId, version, length, checksum }
    // As the map takes it now that the record is gone; where both the present slot of a device and
    // its report under way name it, it passes to the report.
    takeCopy(draft, device, copy, { slot, reported: device.slot !== slot, counted: true })
  }
  judgeOddAnew(draft, chunk)
  return "freed"
}

/** Leases on a freed chunk are over: what is written under them must not bring it back. */
const endLeases = (draft: Draft, chunk: ChunkVersion): void => {
  const mark = draft.fileMarks.get(chunk.fileId)
  if (mark === undefined || mark.openLeases === 0) return
  for (const [, lease] of draft.leases.slice(draft.leases.size)) {
    if (lease.version > chunk.version || compareChunks(lease, chunk) !== 0) continue
    abandonLease(draft, lease)
  }
}

/** Takes the record of a freed chunk out of the map; also what a replayed journal does. */
export const forgetRecord = (draft: Draft, chunk: ChunkVersion): void => {
  const { fileId, chunkId, version } = chunk
  const record = findRecord(draft.chunks, chunk)
  if (record !== undefined && record.version <= version) removeRecord(draft, record)
  keepChunkId(draft, fileId, chunkId)
  const before = draft.freed.get(chunk)
  draft.freed.set(
    { fileId, chunkId },
    { version: Math.max(version, before?.version ?? 0), pending: before?.pending ?? 0 }
  )
}

const removeRecord = (draft: Draft, record: ChunkRecord): void => {
  draft.counts.add(record.set, record.goal, -1)
  draft.chunks.remove(record.fileId, record.chunkId)
  dropFromRepair(draft, record)
}

/** Drops freed chunks whose copies are all known to be gone; at most `limit` of them. */
export const settleFreed = (draft: Draft, start: ChunkKey, limit: number): ChunkKey => {
  if (draft.freed.size === 0 || !knowledgeIsFull(draft)) return start
  const some = draft.freed.slice(limit, start)
  for (const [key, freed] of some) {
    if (freed.pending === 0) settle(draft, key, freed)
  }
  return keyBehind(some.length < limit ? undefined : some.at(-1)?.[0])
}
