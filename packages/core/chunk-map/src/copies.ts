/**
 * Copies under way from one device to another, for chunks below their goal.
 *
 * 1. A copy counts only when the target confirms the committed version, length and checksum.
 * 2. A copy that is not confirmed by its deadline is given up; the sweep plans another.
 * 3. A copy that was not told yet when its target was closed to new copies, or fell silent, is
 *    never told; another is planned at once.
 * 4. The figures of source and target always equal a recount of the jobs.
 */
import { copyLoad, loadMax } from "./copy-load.ts"
import { deviceAt, firstCommand } from "./devices.ts"
import { allotNumber, type Draft } from "./draft.ts"
import { BYTES_IN, LOAD_IN, LOAD_OUT } from "./figures.ts"
import type { ChunkCopy, ChunkKey, ChunkVersion } from "./identity.ts"
import { takeCopy } from "./merge.ts"
import type { CommandKey, CopyJob, Device } from "./model.ts"
import { askToVerify } from "./bad-copies.ts"
import { findRecord, type ChunkRecord } from "./packed-tree.ts"

/** A copy to tell the target. */
export interface CopyCommand extends ChunkCopy {
  readonly _tag: "Copy"
  readonly commandId: number
  readonly device: number
  readonly source: number
  readonly deadlineMs: number
}

const none: ReadonlyArray<CommandKey> = []

/** The copies of a chunk that are under way. */
export const copiesUnderWay = (draft: Draft, key: ChunkKey): ReadonlyArray<CommandKey> =>
  draft.copying.size === 0 ? none : (draft.copying.get(key) ?? none)

/** Plans a copy; it is told with the target's next heartbeat. */
export const startCopy = (
  draft: Draft,
  record: ChunkRecord,
  devices: { readonly source: Device; readonly target: Device }
): void => {
  const { fileId, chunkId, version, length, checksum } = record
  const { source, target } = devices
  const key: CommandKey = { device: target.index, commandId: allotNumber(draft) }
  draft.copyJobs.set(key, {
    fileId,
    chunkId,
    version,
    length,
    checksum,
    source: source.index,
    deadline: draft.now + draft.settings.copyTimeoutMs,
    resendAt: 0
  })
  draft.copying.set({ fileId, chunkId }, [...copiesUnderWay(draft, record), key])
  const load = copyLoad(draft.settings, length)
  draft.figures.add(target.index, LOAD_IN, load)
  draft.figures.add(target.index, BYTES_IN, length)
  draft.figures.add(source.index, LOAD_OUT, load)
}

const endCopy = (draft: Draft, key: CommandKey, job: CopyJob): void => {
  draft.copyJobs.delete(key)
  const { fileId, chunkId } = job
  const others = copiesUnderWay(draft, job).filter(
    (other) => other.device !== key.device || other.commandId !== key.commandId
  )
  if (others.length === 0) draft.copying.delete(job)
  else draft.copying.set({ fileId, chunkId }, others)
  const load = copyLoad(draft.settings, job.length)
  draft.figures.add(key.device, LOAD_IN, -load)
  draft.figures.add(key.device, BYTES_IN, -job.length)
  draft.figures.add(job.source, LOAD_OUT, -load)
}

/** What became of a copy. */
export type CopyOutcome =
  | { readonly _tag: "Done"; readonly chunk: ChunkCopy | null }
  | { readonly _tag: "SourceCorrupt" }
  | { readonly _tag: "Failed" }

/** Takes the word of the target on a copy; an unknown command changes nothing. */
export const finishCopy = (
  draft: Draft,
  target: Device,
  told: { readonly commandId: number; readonly copy: ChunkVersion },
  outcome: CopyOutcome
): void => {
  const key: CommandKey = { device: target.index, commandId: told.commandId }
  const job = draft.copyJobs.get(key)
  if (job === undefined) return
  endCopy(draft, key, job)
  switch (outcome._tag) {
    case "Failed":
      return
    case "SourceCorrupt": {
      const source = deviceAt(draft, job.source)
      if (source !== undefined) askToVerify(draft, source, job)
      return
    }
    case "Done": {
      const { fileId, chunkId, version, length, checksum } = outcome.chunk ?? job
      const copy = { fileId, chunkId, version, length, checksum }
      if (!target.serving || fileId !== job.fileId || chunkId !== job.chunkId) return
      takeCopy(draft, target, copy, { slot: target.slot, reported: false, counted: false })
    }
  }
}

/** The copies to tell a device now. */
export const tellCopies = (draft: Draft, device: Device): ReadonlyArray<CopyCommand> => {
  const commands: Array<CopyCommand> = []
  const { now, settings } = draft
  const most = loadMax(settings.copiesInMax, true)
  for (const [key, job] of draft.copyJobs.slice(most, firstCommand(device.index))) {
    if (key.device !== device.index) break
    if (now < job.resendAt) continue
    if (job.resendAt === 0 && device.desired !== "normal") {
      endCopy(draft, key, job)
      continue
    }
    draft.copyJobs.set(key, { ...job, resendAt: now + settings.commandResendMs })
    const { fileId, chunkId, version, length, checksum, source } = job
    const deadlineMs = Math.max(1, Math.floor(((job.deadline - now) * 3) / 4))
    const { commandId } = key
    commands.push({
      _tag: "Copy",
      commandId,
      device: device.index,
      source,
      deadlineMs,
      fileId,
      chunkId,
      version,
      length,
      checksum
    })
  }
  return commands
}

/**
 * Gives up copies that are late, of a version that is no longer committed, to a lost device, or not
 * told yet to one that takes no new copy now.
 */
export const expireCopies = (draft: Draft): void => {
  for (const [key, job] of draft.copyJobs.slice(draft.copyJobs.size)) {
    const target = deviceAt(draft, key.device)
    const source = deviceAt(draft, job.source)
    const lost = target?.serving !== true || source?.serving !== true
    const over = findRecord(draft.chunks, job)?.version !== job.version
    const takes = target?.liveness === "online" && target.desired === "normal"
    if (lost || over || (job.resendAt === 0 && !takes) || job.deadline <= draft.now)
      endCopy(draft, key, job)
  }
}
