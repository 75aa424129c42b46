/**
 * Telling devices which copies to delete.
 *
 * A deletion is judged before it is told for the first time and again each time its deadline
 * passed; between the two it is repeated under the same command id. The device is given three
 * quarters of the time, so that it never acts on a command that the service has given up.
 */
import type { Draft } from "./draft.ts"
import { allotNumber } from "./draft.ts"
import { dropDeletion } from "./deletions.ts"
import { deviceOfSlot, firstCopy } from "./devices.ts"
import { DELETIONS_TOLD } from "./figures.ts"
import type { ChunkVersion } from "./identity.ts"
import { takeCopy } from "./merge.ts"
import type { CopyKey, Deletion, Device } from "./model.ts"
import { hasFuture } from "./odd.ts"
import { rowGoal, rowSet, rowVersion, seek } from "./packed-tree.ts"
import { ASSURED, countSlots } from "./slots.ts"

/** A deletion to tell a device. */
export interface DeletionCommand extends ChunkVersion {
  readonly _tag: "Delete"
  readonly commandId: number
  readonly device: number
  readonly deadlineMs: number
}

/** Whether a deletion is still right; the copy itself is in no replica set. */
export const isJustified = (draft: Draft, key: CopyKey, deletion: Deletion): boolean => {
  const recorded = seek(draft.chunks, key.fileId, key.chunkId, draft.cursor)
  const { words, offset } = draft.cursor
  const version = recorded ? rowVersion(words, offset) : 0
  const goal = recorded ? rowGoal(words, offset) : 0
  const assured = recorded ? countSlots(draft.sets, draft.slots, rowSet(words, offset), ASSURED) : 0
  switch (deletion.reason) {
    case "freed":
      return version !== key.version && (draft.freed.get(key)?.version ?? 0) >= key.version
    case "unknown":
    case "abandoned":
      return version !== key.version && draft.leases.get(key.version) === undefined
    case "stale":
      return version > key.version && assured >= 1 && !hasFuture(draft, key)
    case "corrupt":
      return version === key.version && assured >= 1
    case "surplus":
      return version === key.version && assured >= goal && !hasFuture(draft, key)
  }
}

/** Takes back a deletion that is no longer right; the copy is judged anew. */
export const cancelDeletion = (draft: Draft, key: CopyKey, deletion: Deletion): void => {
  dropDeletion(draft, key, deletion)
  const device = deletion.heldBy < 0 ? undefined : deviceOfSlot(draft, deletion.heldBy)
  if (device === undefined) return
  const { length, checksum } = deletion
  takeCopy(
    draft,
    device,
    { ...key, length, checksum },
    {
      slot: deletion.heldBy,
      reported: false,
      counted: true,
      bad: deletion.reason === "corrupt"
    }
  )
}

const tell = (draft: Draft, key: CopyKey, deletion: Deletion): DeletionCommand => {
  const { now, settings } = draft
  const again = deletion.commandId !== 0 && now < deletion.deadline
  const commandId = again ? deletion.commandId : allotNumber(draft)
  const deadline = again ? deletion.deadline : now + settings.deletionTimeoutMs
  if (deletion.commandId === 0) draft.figures.add(key.device, DELETIONS_TOLD, 1)
  draft.deletions.set(key, {
    ...deletion,
    commandId,
    deadline,
    resendAt: now + settings.commandResendMs,
    attempts: deletion.attempts + (again ? 0 : 1)
  })
  const { device, fileId, chunkId, version } = key
  const left = Math.max(1, Math.floor(((deadline - now) * 3) / 4))
  return { _tag: "Delete", commandId, device, fileId, chunkId, version, deadlineMs: left }
}

/** The deletions to tell a device now: new ones, and those it did not answer in time. */
export const tellDeletions = (draft: Draft, device: Device): ReadonlyArray<DeletionCommand> => {
  const commands: Array<DeletionCommand> = []
  const { deletionsMax } = draft.settings
  let told = 0
  for (const [key, deletion] of draft.deletions.slice(deletionsMax, firstCopy(device.index))) {
    if (key.device !== device.index) break
    const waiting = deletion.commandId !== 0 && draft.now < deletion.resendAt
    if (waiting) continue
    const late = deletion.commandId !== 0 && draft.now >= deletion.deadline
    if ((deletion.commandId === 0 || late) && !isJustified(draft, key, deletion)) {
      cancelDeletion(draft, key, deletion)
      continue
    }
    commands.push(tell(draft, key, deletion))
    if (++told >= deletionsMax) break
  }
  return commands
}
