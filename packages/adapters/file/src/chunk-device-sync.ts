/**
 * Makes the names of folders durable, one call for all that wait.
 *
 *     wanted  a ──▶ sync ─────────▶ done: a
 *             b, c ─ wait ─▶ sync ─────────▶ done: b, c
 *
 * A change is covered by a sync that began after it: those who come while one runs share the next.
 */
import type { Disk } from "./chunk-device-disk.ts"

/** Syncs folders. */
export interface FolderSync {
  /** Ends when every change made to the folder before the call is durable. */
  readonly sync: (folder: string) => Promise<void>
}

interface Turns {
  running: Promise<void>
  next: Promise<void> | undefined
}

/** Makes the syncs of one device's folders. */
export const folderSync = (disk: Disk): FolderSync => {
  const turns = new Map<string, Turns>()
  const begin = (folder: string): Promise<void> => {
    const running = disk.syncDirectory(folder)
    const turn: Turns = { running, next: undefined }
    turns.set(folder, turn)
    const forget = () => {
      if (turn.next === undefined && turns.get(folder) === turn) turns.delete(folder)
    }
    return running.finally(forget)
  }
  return {
    sync: (folder) => {
      const turn = turns.get(folder)
      if (turn === undefined) return begin(folder)
      const after = () => begin(folder)
      turn.next ??= turn.running.then(after, after)
      return turn.next
    }
  }
}
