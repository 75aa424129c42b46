/**
 * Balancing: chunks move from fuller devices to emptier ones while nothing else is to be done.
 *
 * ```
 *   fuller ──copied, verified──▶ emptier ─▶ one copy too many ─▶ the fuller one is trimmed
 * ```
 * 1. Only while no chunk is below its goal or waits for repair, never in safe mode.
 * 2. Only where the free shares of both differ by more than `balanceRatioMin`, and not so far that
 *    the target would become the fuller one.
 * 3. The chunk is assured on its goal of devices before the copy begins, and on as many until
 *    trimming has dropped a copy; which one that will be is asked before (`surplus.ts`), so the spread
 *    stays.
 * 4. At most `balanceCopiesMax` copies at a time and `balanceBytesPerSecond` bytes; the next move
 *    of a device waits until it has deleted what it gave away.
 */
import { startCopy } from "./copies.ts"
import { candidates } from "./devices.ts"
import type { Draft } from "./draft.ts"
import { BYTES_IN, DELETIONS } from "./figures.ts"
import type { Device } from "./model.ts"
import { chunksBelowGoal } from "./modes.ts"
import { hasFuture } from "./odd.ts"
import {
  advance,
  newCursor,
  rowChunkId,
  rowFileId,
  rowRecord,
  seekFrom,
  type ChunkRecord
} from "./packed-tree.ts"
import { neighbours } from "./placement.ts"
import { repairMayRun } from "./repair.ts"
import { repairClasses, repairQueue } from "./repair-class.ts"
import { chooseSource, mayTake } from "./repair-devices.ts"
import { freeShare, roomOf } from "./room.ts"
import { assuredHolders, pickSurplus } from "./surplus.ts"

/** Chunks that one tick looks at. */
const LOOKED_AT = 20_000

/** A move of one of a chunk's copies. */
interface Move {
  readonly fuller: Device
  readonly emptier: Device
}

/** Begins copies of chunks that are to move; see the module comment. */
export const planBalance = (draft: Draft): void => {
  const { scalars, chunks } = draft
  if (!isUneven(draft) || !mayBalance(draft)) return
  const moves = new Map<number, ReadonlyArray<Move>>()
  const cursor = newCursor()
  let here = seekFrom(chunks, scalars.balanceAt, cursor)
  for (let left = LOOKED_AT; left > 0 && here && hasBudget(draft); left--) {
    const setAndGoal = cursor.words[cursor.offset + 4]!
    let possible = moves.get(setAndGoal)
    if (possible === undefined) {
      possible = movesOf(draft, setAndGoal >>> 4, setAndGoal & 0xf)
      moves.set(setAndGoal, possible)
    }
    if (possible.length > 0 && move(draft, rowRecord(cursor.words, cursor.offset), possible)) {
      moves.clear()
    }
    here = advance(chunks, cursor)
  }
  const { words, offset } = cursor
  scalars.balanceAt = here
    ? { fileId: rowFileId(words, offset), chunkId: rowChunkId(words, offset) }
    : { fileId: 0, chunkId: 0 }
}

const hasBudget = (draft: Draft): boolean =>
  draft.copyJobs.size < draft.settings.balanceCopiesMax &&
  draft.now >= draft.scalars.balanceNotBefore

const mayBalance = (draft: Draft): boolean =>
  draft.settings.balanceBytesPerSecond > 0 &&
  repairMayRun(draft) &&
  hasBudget(draft) &&
  repairClasses.every((name) => repairQueue(draft, name).size === 0) &&
  chunksBelowGoal(draft) === 0

/** Whether two devices differ enough at all. */
const isUneven = (draft: Draft): boolean => {
  const shares = candidates(draft).map((device) => freeShare(draft, device))
  return Math.max(...shares) - Math.min(...shares) > draft.settings.balanceRatioMin
}

/** The moves that a chunk with this set and goal may make, to the emptiest device first. */
const movesOf = (draft: Draft, set: number, goal: number): ReadonlyArray<Move> => {
  const holders = assuredHolders(draft, set)
  if (holders.length !== goal || draft.sets.members(set).length !== goal) return []
  const near = new Set(holders.flatMap((holder) => neighbours(draft, [holder, ...holders])))
  const found: Array<Move> = []
  for (const emptier of near) {
    if (holders.includes(emptier) || !isSettled(draft, emptier)) continue
    const fuller = pickSurplus(draft, [...holders, emptier])
    const gap = freeShare(draft, emptier) - freeShare(draft, fuller)
    if (gap > draft.settings.balanceRatioMin && isSettled(draft, fuller)) {
      found.push({ fuller, emptier })
    }
  }
  return found.sort((one, other) => freeShare(draft, other.emptier) - freeShare(draft, one.emptier))
}

/** What a device says of its room is true: it has nothing to delete and takes no copy. */
const isSettled = (draft: Draft, { index }: Device): boolean =>
  draft.figures.get(index, DELETIONS) === 0 && draft.figures.get(index, BYTES_IN) === 0

/** Begins the first move that has room and slots; says whether one began. */
const move = (draft: Draft, record: ChunkRecord, moves: ReadonlyArray<Move>): boolean => {
  const { scalars, settings, now } = draft
  // Of such a chunk nothing is trimmed, so nothing would be gained.
  if (hasFuture(draft, record)) return false
  for (const { fuller, emptier } of moves) {
    const before = (roomOf(draft, fuller) + record.length) / Math.max(1, fuller.capacity)
    const after = (roomOf(draft, emptier) - record.length) / Math.max(1, emptier.capacity)
    if (after < before || !mayTake(draft, record, emptier)) continue
    const source = chooseSource(draft, record, false)
    if (source === undefined) return false
    startCopy(draft, record, { source, target: emptier })
    const took = (record.length * 1_000) / settings.balanceBytesPerSecond
    scalars.balanceNotBefore = Math.max(now, scalars.balanceNotBefore) + took
    return true
  }
  return false
}
