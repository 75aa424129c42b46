/** Odd copies: those that are on a device and count for nothing. */
import type { Draft } from "./draft.ts"
import type { ChunkKey } from "./identity.ts"
import type { OddCopy } from "./model.ts"

const none: ReadonlyArray<OddCopy> = []

/** The odd copies of a chunk. */
export const oddCopies = (draft: Draft, key: ChunkKey): ReadonlyArray<OddCopy> =>
  draft.odd.size === 0 ? none : (draft.odd.get(key) ?? none)

const keep = (draft: Draft, key: ChunkKey, copies: ReadonlyArray<OddCopy>): void => {
  if (copies.length === 0) draft.odd.delete(key)
  else draft.odd.set({ fileId: key.fileId, chunkId: key.chunkId }, copies)
}

/**
 * Adds an odd copy or replaces the one of the same slot and version; says whether one was there.
 */
export const putOdd = (draft: Draft, key: ChunkKey, copy: OddCopy): boolean => {
  const before = oddCopies(draft, key)
  const others = before.filter(
    (other) => other.slot !== copy.slot || other.version !== copy.version
  )
  keep(draft, key, [...others, copy])
  return others.length !== before.length
}

/** Removes the odd copy of a slot and version; says whether it was there. */
export const dropOdd = (draft: Draft, key: ChunkKey, slot: number, version: number): boolean => {
  const before = oddCopies(draft, key)
  if (before.length === 0) return false
  const others = before.filter((copy) => copy.slot !== slot || copy.version !== version)
  if (others.length === before.length) return false
  keep(draft, key, others)
  return true
}

/** Removes and gives all odd copies of a chunk. */
export const takeOdd = (draft: Draft, key: ChunkKey): ReadonlyArray<OddCopy> => {
  const copies = oddCopies(draft, key)
  if (copies.length > 0) draft.odd.delete(key)
  return copies
}

/** Whether a copy of a chunk is of a version that the journal never gave out. */
export const hasFuture = (draft: Draft, key: ChunkKey): boolean =>
  oddCopies(draft, key).some((copy) => copy.kind === "future")
