/**
 * Warnings that may come by the thousand while a peer is down: each text is logged at most once in
 * a while, with the number of those that were held back.
 */
import { Effect } from "effect"
import { monotonicMillis } from "./monotonic.ts"

/** Logs a warning now and then; `detail` is that of the one that is logged. */
export type RareLog = (text: string, detail: unknown) => Effect.Effect<void>

const QUIET_MILLIS = 10_000

/** A log of its own; texts are few and fixed, what varies belongs into the detail. */
export const makeRareLog = (): RareLog => {
  const last = new Map<string, { at: number; heldBack: number }>()
  return (text, detail) =>
    Effect.flatMap(monotonicMillis, (now) => {
      const known = last.get(text)
      if (known !== undefined && now - known.at < QUIET_MILLIS) {
        known.heldBack += 1
        return Effect.void
      }
      last.set(text, { at: now, heldBack: 0 })
      return Effect.logWarning(text, detail, { heldBack: known?.heldBack ?? 0 })
    })
}
