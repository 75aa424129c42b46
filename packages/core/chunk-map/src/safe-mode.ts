/**
 * Safe mode: while the map knows too little, nothing is deleted, repaired or allocated.
 *
 * ```
 *   pending ──threshold and devices reached──▶ extension ──held for extensionMs──▶ off
 *      ▲                                          │
 *      └───────────────── a dip ──────────────────┘
 * ```
 * 1. What is expected comes from the durable record: every committed chunk; what is there are the
 *    chunks with at least one copy on a device that reported, without a gap for the extension.
 * 2. It never leaves by itself while a device holds versions that the journal never gave out: the
 *    record may be older than the data. Only `force` leaves then, and lifts the marks by a whole
 *    block above them.
 * 3. Entered by hand it stays until it is left by hand.
 * 4. The tip says in words what is missing and how long it still takes.
 */
import * as Result from "effect/Result"
import { allDevices } from "./devices.ts"
import { liftMarks, type Draft } from "./draft.ts"
import { takeOut } from "./liveness.ts"
import { refuse, type Refusal } from "./refusal.ts"
import { isSatisfied, measure, type Measure, noteDip } from "./safe-mode-measure.ts"
import { inSafeMode } from "./safe-mode-view.ts"

/** What safe mode waits for. */
export interface SafeModeView {
  readonly phase: "pending" | "extension" | "off" | "manual"
  readonly expected: number
  readonly reported: number
  readonly needed: number
  readonly devices: number
  readonly futureCopies: number
  readonly futureBytes: number
  readonly tip: string
}

/** An operator's word on safe mode. */
export interface SetSafeMode {
  readonly action: "enter" | "leave" | "force"
}

const tipOf = (draft: Draft, found: Measure): string => {
  const { safeMode } = draft.scalars
  const { safeModeThreshold, devicesMin } = draft.settings
  if (safeMode.manual) return "safe mode was entered by hand; it stays until it is left by hand"
  if (safeMode.phase === "off") return "safe mode is off"
  const parts: Array<string> = []
  if (found.futureCopies > 0) {
    parts.push(
      `${found.futureCopies} copies (${found.futureBytes} bytes) are of versions that this ` +
        "journal never gave out: the record may be older than the data; only force leaves safe mode"
    )
  }
  if (found.needed > 0) {
    parts.push(
      `reported ${found.reported} needs ${found.needed} more ` +
        `(${safeModeThreshold} of ${draft.chunks.size}), live devices ${found.devices}`
    )
  }
  if (found.devices < devicesMin) {
    parts.push(
      `live devices ${found.devices} of ${devicesMin} (devicesMin), ` +
        `known devices ${allDevices(draft).length}`
    )
  }
  if (parts.length > 0) return parts.join("; ")
  const seconds = Math.ceil(Math.max(0, safeMode.extensionUntil - draft.now) / 1000)
  const seen = `reported ${found.reported} of ${draft.chunks.size}`
  return `${seen}; safe mode is left in ${seconds} seconds`
}

/** What safe mode waits for, in numbers and in words. */
export const viewSafeMode = (draft: Draft): SafeModeView => {
  const found = measure(draft)
  const { safeMode } = draft.scalars
  return {
    ...found,
    phase: safeMode.manual ? "manual" : safeMode.phase,
    expected: draft.chunks.size,
    tip: tipOf(draft, found)
  }
}

const leave = (draft: Draft): void => {
  draft.scalars.safeMode = { phase: "off", manual: false, extensionUntil: 0, leftAt: draft.now }
  draft.scalars.sweepAt = { fileId: 0, chunkId: 0 }
}

/** Moves safe mode on as far as what is known allows. */
export const judgeSafeMode = (draft: Draft): void => {
  const { scalars, settings, now } = draft
  const { safeMode } = scalars
  if (safeMode.manual || safeMode.phase === "off") return
  if (!isSatisfied(draft, measure(draft))) return noteDip(draft)
  const extensionUntil =
    safeMode.phase === "extension" ? safeMode.extensionUntil : now + settings.extensionMs
  if (now >= extensionUntil) leave(draft)
  else scalars.safeMode = { ...safeMode, phase: "extension", extensionUntil }
}

/** Enters or leaves safe mode by hand. */
export const setSafeMode = (
  draft: Draft,
  command: SetSafeMode
): Result.Result<SafeModeView, Refusal> => {
  const { scalars } = draft
  switch (command.action) {
    case "enter":
      scalars.safeMode = { ...scalars.safeMode, manual: true }
      return Result.succeed(viewSafeMode(draft))
    case "leave":
      if (inSafeMode(draft) && measure(draft).futureCopies > 0) {
        scalars.safeMode = { ...scalars.safeMode, manual: false }
        return refuse("not-ready", tipOf(draft, measure(draft)))
      }
      break
    case "force":
      liftMarks(draft)
      break
  }
  for (const device of allDevices(draft)) {
    if (device.liveness === "absent" && device.desired !== "removed") takeOut(draft, device, -1)
  }
  leave(draft)
  return Result.succeed(viewSafeMode(draft))
}
