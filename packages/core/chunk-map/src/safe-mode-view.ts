/** What others must know of safe mode: whether it is on, and when to ask again. */
import type { Draft } from "./draft.ts"

/** Whether deletions, repair and allocation wait. */
export const inSafeMode = (draft: Draft): boolean =>
  draft.scalars.safeMode.manual || draft.scalars.safeMode.phase !== "off"

/** When to ask again, or null when safe mode is off. */
export const safeModeRetryMs = (draft: Draft): number | null => {
  if (!inSafeMode(draft)) return null
  const { phase, extensionUntil } = draft.scalars.safeMode
  const wait = phase === "extension" ? extensionUntil - draft.now : 0
  return Math.max(draft.settings.heartbeatMs, Math.ceil(wait))
}
