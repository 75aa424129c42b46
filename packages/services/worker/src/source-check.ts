/** Whether a source and the stored checkpoint belong together. */
import { highestClaim } from "@holdfast/disposition"
import type { ShardRun } from "./shard-run.ts"

/**
 * False, with the run ended or halted, when the source holds less than was read from it before. A
 * checkpoint above its end means another stream of the same name: reading on would skip all of it
 * in silence. A map alone that claims more is dropped, and its records are done again.
 */
export const isTrusted = (run: ShardRun): boolean => {
  const newest = run.newestInSource
  if (newest === undefined) return true
  const low = run.tracker.lowWatermark
  if (low !== undefined && low > newest) {
    run.halt(
      `the source ends at position ${newest}, below the checkpoint ${low}: it was made anew or ` +
        "truncated; remove the checkpoint, or archive it under another name"
    )
    return false
  }
  const restored = run.tracker.restored
  const highest = restored === undefined ? undefined : highestClaim(restored)
  if (highest === undefined || highest <= newest) return true
  const reason = `the completion map claims position ${highest}, the source ends at ${newest}`
  run.finish({ _tag: "Failed", reason, distrustsMap: true })
  return false
}
