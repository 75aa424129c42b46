/** A walk over the committed chunks in order, some of them a call, so that no call takes long. */
import type { Draft } from "./draft.ts"
import { type ChunkKey, keyBehind } from "./identity.ts"
import { advance, newCursor, rowChunkId, rowFileId, rowRecord, seekFrom } from "./packed-tree.ts"
import type { ChunkRecord } from "./packed-tree.ts"

/** Chunks that one call looks at; about two milliseconds. */
const LOOKED_AT = 200_000

/** What a walk looks for; `mayBe` is asked once for each replica set and goal. */
export interface Walk<A> {
  /** The walk begins strictly after this chunk; null for the first one. */
  readonly after: ChunkKey | null
  readonly limit: number
  readonly mayBe: (set: number, goal: number) => boolean
  readonly pick: (record: ChunkRecord) => A | undefined
}

/** What a call found, and the chunk after which the next one goes on; null at the end. */
export interface Walked<A> {
  readonly found: ReadonlyArray<A>
  readonly next: ChunkKey | null
}

/** Walks on; O(chunks looked at). */
export const walkChunks = <A>(draft: Draft, walk: Walk<A>): Walked<A> => {
  const found: Array<A> = []
  const cursor = newCursor()
  const verdicts = new Map<number, boolean>()
  let last: ChunkKey | null = walk.after
  let here = seekFrom(draft.chunks, keyBehind(walk.after ?? undefined), cursor)
  for (let left = LOOKED_AT; here; left--) {
    if (left === 0 || found.length >= walk.limit) return { found, next: last }
    const setAndGoal = cursor.words[cursor.offset + 4]!
    let verdict = verdicts.get(setAndGoal)
    if (verdict === undefined) {
      verdict = walk.mayBe(setAndGoal >>> 4, setAndGoal & 0xf)
      verdicts.set(setAndGoal, verdict)
    }
    const picked = verdict ? walk.pick(rowRecord(cursor.words, cursor.offset)) : undefined
    if (picked !== undefined) found.push(picked)
    const { words, offset } = cursor
    last = { fileId: rowFileId(words, offset), chunkId: rowChunkId(words, offset) }
    here = advance(draft.chunks, cursor)
  }
  return { found, next: null }
}
