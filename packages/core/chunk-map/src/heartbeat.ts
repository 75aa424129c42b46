/**
 * Heartbeats: signs of life of chunk servers, what they did, and what they are told.
 *
 * ```
 *   who may speak ─▶ what they say of each device ─▶ outcomes, changes ─▶ digest ─▶ commands
 * ```
 * 1. A process older than the one last heard of its host is refused; so is an older epoch of a
 *    device, and a device that is live on another host.
 * 2. A heartbeat never adds copies of a device that has not reported under its present epoch; it is
 *    asked for a report instead.
 * 3. Outcomes and changes may repeat; they change nothing the second time.
 * 4. A digest that differs twice in a row, unchanged on both sides, asks for a report; until it is
 *    complete the device's copies are read but decide no deletion.
 * 5. Repair goes on by outcomes: slots that they free are filled by the same reply.
 * 6. While the journal takes nothing no command is told, because their ids would need it.
 */
import * as Result from "effect/Result"
import {
  finishVerification,
  markCorrupt,
  tellVerifications,
  type VerifyCommand
} from "./bad-copies.ts"
import { readCommandId } from "./command-id.ts"
import { loadMax } from "./copy-load.ts"
import { finishCopy, tellCopies, type CopyCommand } from "./copies.ts"
import { acknowledgeDeletion } from "./deletions.ts"
import { findDevice, putDevice } from "./devices.ts"
import { LOAD_IN } from "./figures.ts"
import { claimDevice } from "./claim-device.ts"
import { digestEquals, type Digest } from "./digest.ts"
import type { Draft } from "./draft.ts"
import type { ChunkCopy, ChunkVersion, DeviceId, HostId } from "./identity.ts"
import { takeCopy } from "./merge.ts"
import type { Device } from "./model.ts"
import { refuse, type Refusal } from "./refusal.ts"
import { planRepair } from "./repair.ts"
import { grantReport, type ReportWanted } from "./report.ts"
import { noteDip } from "./safe-mode-measure.ts"
import { inSafeMode } from "./safe-mode-view.ts"
import { tellDeletions, type DeletionCommand } from "./tell-deletions.ts"

/** What a heartbeat says of one device. */
export interface DeviceFigures {
  readonly deviceId: DeviceId
  readonly epoch: number
  readonly capacity: number
  readonly used: number
  readonly available: number
  readonly digest: Digest
}

/** What became of a command. */
export interface CommandOutcome {
  readonly commandId: string
  readonly deviceId: string
  readonly epoch: number
  readonly outcome:
    | { readonly _tag: "Done"; readonly chunk: ChunkCopy | null }
    | { readonly _tag: "Corrupt" }
    | { readonly _tag: "Failed" }
}

/** A change on a device outside any command. */
export type CopyChange =
  | {
      readonly _tag: "Added"
      readonly deviceId: string
      readonly epoch: number
      readonly chunk: ChunkCopy
    }
  | {
      readonly _tag: "Bad"
      readonly deviceId: string
      readonly epoch: number
      readonly chunk: ChunkVersion
    }

/** A sign of life. */
export interface Heartbeat {
  readonly hostId: HostId
  readonly incarnation: number
  readonly url: string
  /** Where the host stands; empty when it does not say. */
  readonly rack: string
  readonly sequence: number
  readonly devices: ReadonlyArray<DeviceFigures>
  readonly outcomes: ReadonlyArray<CommandOutcome>
  readonly changes: ReadonlyArray<CopyChange>
  readonly goodbye: boolean
}

/** Something for a chunk server to do; devices are named by their indexes. */
export type ChunkCommand = CopyCommand | DeletionCommand | VerifyCommand

/** What a heartbeat is answered. */
export interface HeartbeatReply {
  readonly confirmed: number
  readonly commands: ReadonlyArray<ChunkCommand>
  readonly reportsWanted: ReadonlyArray<ReportWanted>
  readonly refused: ReadonlyArray<{ readonly deviceId: string; readonly reason: string }>
  readonly intervalMs: number
}

const HASTE_MS = 50

/** Takes a sign of life; see the module comment. */
export const heartbeat = (
  draft: Draft,
  beat: Heartbeat
): Result.Result<HeartbeatReply, Refusal> => {
  const host = draft.hosts.get(beat.hostId)
  if (host !== undefined && beat.incarnation < host.incarnation) {
    return refuse("stale-incarnation", `host ${beat.hostId} was started again since`)
  }
  if (host === undefined && draft.hosts.size >= draft.settings.devicesMax) {
    return refuse("overloaded", `${draft.settings.devicesMax} hosts are known, which is the limit`)
  }
  const late = host?.incarnation === beat.incarnation && beat.sequence <= host.sequence
  const { hostId, incarnation, url, rack } = beat
  const sequence = late ? host.sequence : beat.sequence
  draft.hosts.set(hostId, { hostId, incarnation, url, rack, sequence, lastHeard: draft.now })
  const refused: Array<{ deviceId: string; reason: string }> = []
  const claimed: Array<DeviceFigures> = []
  for (const figures of beat.devices) {
    const reason = claimDevice(draft, beat, figures)
    if (reason === null) claimed.push(figures)
    else refused.push({ deviceId: figures.deviceId, reason })
  }
  takeOutcomes(draft, beat)
  takeChanges(draft, beat)
  noteDip(draft)
  if (beat.outcomes.length > 0 && claimed.some((said) => isIdle(draft, said))) planRepair(draft)
  if (beat.goodbye) {
    for (const { deviceId } of claimed) sayGoodbye(draft, deviceId)
    return Result.succeed(reply(draft, beat.sequence, { refused }))
  }
  return Result.succeed(answerDevices(draft, beat.sequence, { claimed, refused, late }))
}

const reply = (
  draft: Draft,
  confirmed: number,
  parts: Partial<HeartbeatReply>
): HeartbeatReply => ({
  confirmed,
  commands: [],
  reportsWanted: [],
  refused: [],
  intervalMs: draft.settings.heartbeatMs,
  ...parts
})

const answerDevices = (
  draft: Draft,
  confirmed: number,
  options: {
    readonly claimed: ReadonlyArray<DeviceFigures>
    readonly refused: HeartbeatReply["refused"]
    readonly late: boolean
  }
): HeartbeatReply => {
  const commands: Array<ChunkCommand> = []
  const reportsWanted: Array<ReportWanted> = []
  for (const figures of options.claimed) {
    if (!options.late) compareDigest(draft, figures)
    const device = draft.devices.get(figures.deviceId)
    if (device === undefined) continue
    if (!device.serving || !device.fresh) {
      const wanted = grantReport(draft, device)
      if (wanted !== null) reportsWanted.push(wanted)
    }
    if (!device.serving || inSafeMode(draft) || !draft.canWrite) continue
    commands.push(...tellCopies(draft, device), ...tellVerifications(draft, device))
    if (device.fresh) commands.push(...tellDeletions(draft, device))
  }
  const busy = commands.length > 0 || options.claimed.some((said) => hasCopies(draft, said))
  const intervalMs = busy
    ? Math.min(HASTE_MS, draft.settings.heartbeatMs)
    : draft.settings.heartbeatMs
  const { refused } = options
  return reply(draft, confirmed, { commands, reportsWanted, refused, intervalMs })
}

/** Whether a device copies for repair now: what it says next decides what it is told next. */
const hasCopies = (draft: Draft, { deviceId }: DeviceFigures): boolean => {
  const device = findDevice(draft, deviceId)
  return device !== undefined && draft.figures.get(device.index, LOAD_IN) > 0
}

/** Whether at least half of a device's slots are free: planning for it is worth its while. */
const isIdle = (draft: Draft, { deviceId }: DeviceFigures): boolean => {
  const device = findDevice(draft, deviceId)
  if (device === undefined || !draft.canWrite) return false
  const taken = draft.figures.get(device.index, LOAD_IN)
  return 2 * taken <= loadMax(draft.settings.copiesInMax, false)
}

/** The serving device that a message under this epoch speaks for. */
const speaker = (
  draft: Draft,
  beat: Heartbeat,
  said: { readonly deviceId: string; readonly epoch: number }
): Device | undefined => {
  const device = draft.devices.get(said.deviceId)
  const speaks = device?.hostId === beat.hostId && device.epoch === said.epoch
  return speaks && device.serving ? device : undefined
}

const takeOutcomes = (draft: Draft, beat: Heartbeat): void => {
  for (const said of beat.outcomes) {
    const device = speaker(draft, beat, said)
    const told = readCommandId(said.commandId)
    if (device === undefined || told === undefined) continue
    const { outcome } = said
    switch (told.kind) {
      case "copy":
        finishCopy(draft, device, told, copyOutcome(outcome))
        break
      case "delete":
        acknowledgeDeletion(draft, device, told, outcome._tag === "Done" ? "gone" : "failed")
        break
      case "verify":
        finishVerification(draft, device, told, verifyOutcome(outcome))
        break
    }
  }
}

const copyOutcome = (outcome: CommandOutcome["outcome"]) =>
  outcome._tag === "Corrupt" ? ({ _tag: "SourceCorrupt" } as const) : outcome

const verifyOutcome = ({ _tag }: CommandOutcome["outcome"]) =>
  _tag === "Done" ? "intact" : _tag === "Corrupt" ? "corrupt" : "failed"

const takeChanges = (draft: Draft, beat: Heartbeat): void => {
  for (const change of beat.changes) {
    const device = speaker(draft, beat, change)
    if (device === undefined) continue
    if (change._tag === "Bad") markCorrupt(draft, device, change.chunk)
    else {
      const arrival = { slot: device.slot, reported: false, counted: false }
      takeCopy(draft, device, change.chunk, arrival)
    }
  }
}

const compareDigest = (draft: Draft, figures: DeviceFigures): void => {
  const device = draft.devices.get(figures.deviceId)
  if (device?.serving !== true) return
  const said = figures.digest
  const map = draft.figures.digest(device.index)
  if (digestEquals(said, map)) {
    if (device.saidDigest !== null) putDevice(draft, { ...device, saidDigest: null })
    return
  }
  const unchanged =
    device.saidDigest !== null &&
    device.mapDigest !== null &&
    digestEquals(device.saidDigest, said) &&
    digestEquals(device.mapDigest, map)
  const fresh = device.fresh && !unchanged
  putDevice(draft, { ...device, fresh, saidDigest: said, mapDigest: map })
}

/** The copies of a host that stops are counted out at once, and come back with its next report. */
const sayGoodbye = (draft: Draft, deviceId: string): void => {
  const device = draft.devices.get(deviceId)
  if (device === undefined) return
  const gone = { serving: false, fresh: false, liveness: "stale" } as const
  putDevice(draft, { ...device, ...gone, awaitedSince: draft.now })
}
