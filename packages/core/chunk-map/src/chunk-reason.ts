/**
 * Why a chunk is not held as it is meant to be, or not repaired yet: one word for programs, one
 * sentence for people.
 */
import { copiesUnderWay } from "./copies.ts"
import type { Draft } from "./draft.ts"
import { healthOf } from "./locate.ts"
import type { ChunkRecord } from "./packed-tree.ts"
import { wantOf } from "./repair-class.ts"
import { chooseTarget } from "./repair-devices.ts"
import { inSafeMode } from "./safe-mode-view.ts"

const sentences = {
  missing: "no device holds a copy",
  "only-bad-copies": "every copy that is left is corrupt",
  "holders-not-heard": "a device that may hold a copy has not reported",
  "safe-mode": "nothing is repaired in safe mode",
  "repair-stopped": "repair has stopped after a mass death",
  "repair-not-yet": "repair begins in a moment: safe mode was left just now",
  "holder-may-be-back": "a holder starts anew and may be back in a moment",
  copying: "a copy is under way",
  "no-device-takes-it": "no device that holds no copy takes new ones and has room",
  queued: "a copy is to be made",
  "badly-spread": "its copies stand on fewer hosts or racks than there are",
  surplus: "it has more copies than its goal"
} as const

/** Why a chunk is not held as it is meant to be. */
export type ChunkReason = keyof typeof sentences

/** The reason as a sentence. */
export const describeReason = (reason: ChunkReason): string => sentences[reason]

/** The reason of a chunk; undefined when it is held as it is meant to be. O(devices). */
export const reasonOf = (draft: Draft, record: ChunkRecord): ChunkReason | undefined => {
  const health = healthOf(draft, record)
  switch (health) {
    case "missing":
      return "missing"
    case "corrupt":
      return "only-bad-copies"
    case "unknown":
      return "holders-not-heard"
    case "surplus":
      return "surplus"
    case "at-goal":
    case "below-goal":
      return reasonOfWant(draft, record)
  }
}

const reasonOfWant = (draft: Draft, record: ChunkRecord): ChunkReason | undefined => {
  const want = wantOf(draft, record.set, record.goal)
  if (want === "nothing") return undefined
  if (want === "badly-spread") return "badly-spread"
  if (inSafeMode(draft)) return "safe-mode"
  if (draft.scalars.repairStopped) return "repair-stopped"
  const { leftAt } = draft.scalars.safeMode
  if (draft.now < leftAt + draft.settings.repairDelayMs) return "repair-not-yet"
  if (want === "wait") return "holder-may-be-back"
  if (copiesUnderWay(draft, record).length > 0) return "copying"
  return chooseTarget(draft, record, true) === "none" ? "no-device-takes-it" : "queued"
}
