/**
 * Deletions of copies: waiting -> told (deadline) -> acknowledged, or superseded.
 *
 * 1. A deletion names the version of the copy; an acknowledgement names the command, so a late one
 *    of an older command changes nothing.
 * 2. Each device has its own queue: one that does not answer delays no other.
 * 3. Who tells them (`tell-deletions.ts`) judges each one first, and never tells any in safe mode.
 */
import type { Draft } from "./draft.ts"
import { settlePending } from "./devices.ts"
import { DELETIONS, DELETIONS_TOLD } from "./figures.ts"
import type { ChunkCopy, ChunkVersion } from "./identity.ts"
import type { CopyKey, Deletion, DeletionReason, Device } from "./model.ts"

/** What became of a deletion: `gone` also when there was no such copy. */
export type DeletionOutcome = "gone" | "failed"

/** Names a copy on a device. */
export const copyKey = (device: number, copy: ChunkVersion): CopyKey => ({
  device,
  fileId: copy.fileId,
  chunkId: copy.chunkId,
  version: copy.version
})

/** Queues the deletion of a copy; `heldBy` is the slot whose digest counts it, or -1. */
export const queueDeletion = (
  draft: Draft,
  options: {
    readonly device: number
    readonly copy: ChunkCopy
    readonly reason: DeletionReason
    readonly heldBy: number
  }
): void => {
  const { copy, reason, heldBy } = options
  const key = copyKey(options.device, copy)
  const known = draft.deletions.get(key)
  if (known !== undefined) {
    if (known.heldBy !== heldBy && heldBy >= 0) draft.deletions.set(key, { ...known, heldBy })
    return
  }
  draft.deletions.set(key, {
    reason,
    heldBy,
    length: copy.length,
    checksum: copy.checksum,
    since: draft.now,
    commandId: 0,
    deadline: 0,
    resendAt: 0,
    attempts: 0
  })
  draft.figures.add(options.device, DELETIONS, 1)
  if (reason === "freed") settlePending(draft, key, 1)
}

/** Takes a deletion out of its queue without a word on the copy. */
export const dropDeletion = (draft: Draft, key: CopyKey, deletion: Deletion): void => {
  draft.deletions.delete(key)
  draft.figures.add(key.device, DELETIONS, -1)
  if (deletion.commandId !== 0) draft.figures.add(key.device, DELETIONS_TOLD, -1)
  if (deletion.reason === "freed") settlePending(draft, key, -1)
}

/** Takes the word of a device on a deletion; one that names another command changes nothing. */
export const acknowledgeDeletion = (
  draft: Draft,
  device: Device,
  told: { readonly commandId: number; readonly copy: ChunkVersion },
  outcome: DeletionOutcome
): boolean => {
  const key = copyKey(device.index, told.copy)
  const deletion = draft.deletions.get(key)
  if (deletion === undefined || deletion.commandId !== told.commandId) return false
  if (outcome === "failed") return true
  dropDeletion(draft, key, deletion)
  const isReported = deletion.heldBy === device.report?.slot
  if (deletion.heldBy >= 0 && (isReported || deletion.heldBy === device.slot)) {
    draft.figures.hold(device.index, told.copy, -1, isReported)
  }
  return true
}
