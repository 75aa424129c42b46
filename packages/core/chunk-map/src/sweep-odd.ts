/**
 * The pass over odd and unknown copies: what may be deleted, and what is over.
 *
 * | copy | it is deleted when |
 * |---|---|
 * | stale | as many copies of the committed version are assured as devices can hold of the goal |
 * | corrupt | as many copies are assured as devices without a corrupt one can hold of the goal |
 * | future | never by itself |
 * | unknown | its quarantine is over, every known device has reported, no copy is of the future |
 */
import { queueDeletion } from "./deletions.ts"
import { allDevices, candidates, deviceAt, deviceOfSlot, knowledgeIsFull } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { FUTURE } from "./figures.ts"
import { judgeOddAnew } from "./merge.ts"
import { type ChunkKey, keyBehind } from "./identity.ts"
import type { CopyKey, OddCopy } from "./model.ts"
import { dropOdd } from "./odd.ts"
import { findRecord, type ChunkRecord } from "./packed-tree.ts"
import { releaseUnknown, unknownAge } from "./quarantine.ts"
import { inSafeMode } from "./safe-mode-view.ts"
import { ASSURED, countSlots, RETIRED } from "./slots.ts"

const SLICE = 5_000

/** Looks at the next odd copies of the pass. */
export const sweepOdd = (draft: Draft): void => {
  if (draft.odd.size === 0 || inSafeMode(draft)) return
  const some = draft.odd.slice(SLICE, draft.scalars.oddSweepAt)
  const reachable = candidates(draft).length
  for (const [key, copies] of some) attend(draft, key, copies, reachable)
  draft.scalars.oddSweepAt = keyBehind(some.length < SLICE ? undefined : some.at(-1)?.[0])
}

const attend = (
  draft: Draft,
  key: ChunkKey,
  copies: ReadonlyArray<OddCopy>,
  reachable: number
): void => {
  const record = findRecord(draft.chunks, key)
  const future = copies.some((copy) => copy.kind === "future")
  const orphaned = copies.some(
    (copy) => copy.kind === "uncommitted" && draft.leases.get(copy.version) === undefined
  )
  if (record === undefined || orphaned) judgeOddAnew(draft, key)
  const corrupt = copies.filter((copy) => copy.kind === "corrupt").length
  for (const copy of copies) {
    if ((draft.slots.flags[copy.slot]! & RETIRED) !== 0) {
      dropOdd(draft, key, copy.slot, copy.version)
    } else if (record !== undefined && !future) {
      const others = copy.kind === "corrupt" ? reachable - corrupt : reachable
      removeWhenDue(draft, record, copy, others)
    }
  }
}

const removeWhenDue = (
  draft: Draft,
  record: ChunkRecord,
  copy: OddCopy,
  reachable: number
): void => {
  const device = deviceOfSlot(draft, copy.slot)
  if (device?.serving !== true) return
  const assured = countSlots(draft.sets, draft.slots, record.set, ASSURED)
  const { kind, slot, version, length, checksum } = copy
  const wanted = Math.max(1, Math.min(record.goal, reachable))
  if ((kind !== "stale" && kind !== "corrupt") || assured < wanted) return
  if (!dropOdd(draft, record, slot, version)) return
  const { fileId, chunkId } = record
  const named = { fileId, chunkId, version, length, checksum }
  queueDeletion(draft, { device: device.index, copy: named, reason: kind, heldBy: slot })
}

/** Looks at the next unknown copies; those whose time is over are deleted. */
export const sweepUnknown = (draft: Draft): void => {
  if (draft.quarantine.size === 0 || inSafeMode(draft) || !knowledgeIsFull(draft)) return
  if (allDevices(draft).some((device) => draft.figures.get(device.index, FUTURE) > 0)) return
  const some = draft.quarantine.slice(SLICE, draft.scalars.unknownSweepAt)
  const due = new Map<number, Array<CopyKey>>()
  for (const [key, unknown] of some) {
    if (unknownAge(draft, unknown) < draft.settings.quarantineMs) continue
    const device = deviceAt(draft, key.device)
    if (device === undefined || unknown.slot !== device.slot) continue
    const { length, checksum, slot } = unknown
    const copy = { ...key, length, checksum }
    queueDeletion(draft, { device: key.device, copy, reason: "unknown", heldBy: slot })
    due.set(key.device, [...(due.get(key.device) ?? []), key])
  }
  for (const [index, keys] of due) {
    const device = deviceAt(draft, index)
    if (device !== undefined) releaseUnknown(draft, device, keys)
  }
  const last = some.at(-1)
  const more = last !== undefined && some.length === SLICE
  draft.scalars.unknownSweepAt = more
    ? { ...last[0], version: last[0].version + 1 }
    : { device: 0, fileId: 0, chunkId: 0, version: 0 }
}
