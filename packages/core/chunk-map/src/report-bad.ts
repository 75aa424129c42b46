/** A reader's word that a copy is bad: the device checks it before anybody believes it. */
import * as Result from "effect/Result"
import { askToVerify } from "./bad-copies.ts"
import type { Draft } from "./draft.ts"
import type { ChunkVersion } from "./identity.ts"
import { refuse, type Refusal } from "./refusal.ts"

/** A reader's word that a device's copy is bad. */
export interface ReportBad {
  readonly chunk: ChunkVersion
  readonly deviceId: string
}

/** Asks the device to check its copy; says whether it holds one that can be checked. */
export const reportBad = (
  draft: Draft,
  command: ReportBad
): Result.Result<{ readonly asked: boolean }, Refusal> => {
  const device = draft.devices.get(command.deviceId)
  if (device === undefined) return refuse("unknown-device", `no device ${command.deviceId}`)
  return Result.succeed({ asked: askToVerify(draft, device, command.chunk) })
}
