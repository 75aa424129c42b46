/**
 * Bad copies: an accusation is checked by the device itself before it is believed, what the device
 * itself found counts at once, and a check that could not be made says nothing about the copy.
 */
import { allotNumber, type Draft } from "./draft.ts"
import { firstCopy } from "./devices.ts"
import type { ChunkVersion } from "./identity.ts"
import { setReplicas } from "./merge.ts"
import type { CopyKey, Device } from "./model.ts"
import { putOdd } from "./odd.ts"
import { rowRecord, seek } from "./packed-tree.ts"
import { queueIfWanted } from "./repair-class.ts"

/** A check to tell a device. */
export interface VerifyCommand extends ChunkVersion {
  readonly _tag: "Verify"
  readonly commandId: number
  readonly device: number
  readonly deadlineMs: number
}

const VERIFICATIONS_MAX = 10_000

/** Asks a device to check a copy that somebody called bad; says whether it will be asked. */
export const askToVerify = (draft: Draft, device: Device, copy: ChunkVersion): boolean => {
  const { fileId, chunkId, version } = copy
  if (!seek(draft.chunks, fileId, chunkId, draft.cursor)) return false
  const { cursor } = draft
  const record = rowRecord(cursor.words, cursor.offset)
  const holds =
    record.version === version && device.slot >= 0 && draft.sets.has(record.set, device.slot)
  if (!holds || draft.verifications.size >= VERIFICATIONS_MAX) return false
  const key = { device: device.index, fileId, chunkId, version }
  if (draft.verifications.get(key) !== undefined) return true
  const deadline = draft.now + draft.settings.copyTimeoutMs
  draft.verifications.set(key, { commandId: allotNumber(draft), deadline, resendAt: 0 })
  return true
}

/** Marks a device's copy of the committed version as corrupt: it counts for nothing from now on. */
export const markCorrupt = (draft: Draft, device: Device, copy: ChunkVersion): boolean => {
  const { cursor } = draft
  if (device.slot < 0 || !seek(draft.chunks, copy.fileId, copy.chunkId, cursor)) return false
  const record = rowRecord(cursor.words, cursor.offset)
  if (record.version !== copy.version || !draft.sets.has(record.set, device.slot)) return false
  const set = draft.sets.without(record.set, device.slot)
  setReplicas(draft, cursor, set)
  const { version, length, checksum } = record
  putOdd(draft, record, { slot: device.slot, version, length, checksum, kind: "corrupt" })
  queueIfWanted(draft, { ...record, set })
  draft.alarms.push({
    kind: "corrupt-copy",
    subject: device.deviceId,
    message: `device ${device.deviceId} found its ${copy.fileId}/${copy.chunkId} corrupt`
  })
  return true
}

/** What a device found out about a copy. */
export type VerifyOutcome = "intact" | "corrupt" | "failed"

/** Takes the word of a device on a check; an unknown command changes nothing. */
export const finishVerification = (
  draft: Draft,
  device: Device,
  told: { readonly commandId: number; readonly copy: ChunkVersion },
  outcome: VerifyOutcome
): void => {
  const key: CopyKey = { ...told.copy, device: device.index }
  if (draft.verifications.get(key)?.commandId !== told.commandId) return
  draft.verifications.delete(key)
  if (outcome === "corrupt") markCorrupt(draft, device, told.copy)
}

/** The checks to tell a device now. */
export const tellVerifications = (draft: Draft, device: Device): ReadonlyArray<VerifyCommand> => {
  const commands: Array<VerifyCommand> = []
  const { now, settings } = draft
  const some = draft.verifications.slice(settings.deletionsMax, firstCopy(device.index))
  for (const [key, verification] of some) {
    if (key.device !== device.index) break
    if (now < verification.resendAt) continue
    draft.verifications.set(key, { ...verification, resendAt: now + settings.commandResendMs })
    const { fileId, chunkId, version } = key
    const deadlineMs = Math.max(1, Math.floor(verification.deadline - now))
    const { commandId } = verification
    commands.push({
      _tag: "Verify",
      commandId,
      device: device.index,
      deadlineMs,
      fileId,
      chunkId,
      version
    })
  }
  return commands
}

/** Gives up checks that were not answered; the copies stay what they were. */
export const expireVerifications = (draft: Draft): void => {
  for (const [key, verification] of draft.verifications.slice(VERIFICATIONS_MAX)) {
    if (verification.deadline <= draft.now) draft.verifications.delete(key)
  }
}
