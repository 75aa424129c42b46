/**
 * What an operator wants of a device: durable, and owned by the service whatever the device says.
 *
 * 1. A frozen device takes no new chunk from the answer on; its copies are read, count and may be
 *    deleted.
 * 2. A draining device's copies are read and copied from, and count for nothing; it is removed when
 *    two passes of the sweep in a row found nothing that needs it (`drain.ts`).
 * 3. A removed device's copies are out of the map at once, and it is refused when it comes back,
 *    until it is normal again or forgotten (`forget-device.ts`).
 * 4. Only the wish for a normal device leads back. Of the others the later ones include what the
 *    earlier ones promise, so an earlier wish changes nothing: a drain that is repeated because its
 *    answer was lost does not bring a removed device back, nor a late freeze end a drain.
 */
import * as Result from "effect/Result"
import { deviceAt, logDevice, putDevice } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { eachCount } from "./counts.ts"
import { takeOut } from "./liveness.ts"
import type { DesiredMode, Device } from "./model.ts"
import { releaseUnreported } from "./quarantine.ts"
import { refuse, type Refusal } from "./refusal.ts"
import { noteDip } from "./safe-mode-measure.ts"
import { countSlots, COUNTED } from "./slots.ts"

/** An operator's word on a device. */
export interface SetMode {
  readonly deviceId: string
  readonly desired: DesiredMode
}

const strengthOf = { normal: 0, frozen: 1, draining: 2, removed: 3 } satisfies Record<
  DesiredMode,
  number
>

/** Whether a wish changes what was wanted of a device until now. */
const isNews = (desired: DesiredMode, { desired: before }: Device): boolean =>
  desired === "normal" ? before !== "normal" : strengthOf[desired] > strengthOf[before]

/** Says how many chunks are below their goal. */
export const chunksBelowGoal = (draft: Draft): number => {
  let below = 0
  eachCount(draft.counts, (set, goal, chunks) => {
    if (countSlots(draft.sets, draft.slots, set, COUNTED) < goal) below += chunks
  })
  return below
}

/** Sets what is wanted of a device. */
export const setMode = (
  draft: Draft,
  command: SetMode
): Result.Result<{ readonly belowGoal: number }, Refusal> => {
  const device = draft.devices.get(command.deviceId)
  if (device === undefined) return refuse("unknown-device", `no device ${command.deviceId}`)
  if (isNews(command.desired, device)) change(draft, device, command.desired)
  return Result.succeed({ belowGoal: chunksBelowGoal(draft) })
}

const change = (draft: Draft, device: Device, desired: DesiredMode): void => {
  const known = logDevice(draft, { ...device, desired })
  if (desired === "removed" && device.liveness !== "dead") takeOut(draft, known, -1)
  else putDevice(draft, known)
  beginPasses(draft, device)
  const present = deviceAt(draft, device.index)
  if (desired === "removed" && present !== undefined) releaseUnreported(draft, present, -2)
  noteDip(draft)
}

/** Passes of the sweep under another mode say nothing of this one, nor does the rest of one. */
const beginPasses = (draft: Draft, { index }: Device): void => {
  const { drainClean, sweepAt } = draft.scalars
  const isAtStart = sweepAt.fileId === 0 && sweepAt.chunkId === 0
  draft.scalars.drainClean = new Map(drainClean).set(index, isAtStart ? 0 : -1)
}
