/**
 * Repair: copies for chunks that want some, in the order of their classes (`repair-class.ts`).
 *
 * ```
 *   queues, the most urgent first ─▶ one chunk ─▶ source, target (`repair-devices.ts`) ─▶ copy
 *        ▲ after seven copies the next one is owed to the class whose turn it is
 * ```
 * 1. Nothing is repaired in safe mode, before `repairDelayMs` after it, or after a mass death.
 * 2. A more urgent class goes first, except that one copy in `FAIR_SHARE` is owed to the classes
 *    in turn, so that none waits for ever while another never ends.
 * 3. The class of only copies, and the one that is owed, may take twice the slots of a device.
 * 4. A chunk whose devices are busy keeps its place; in a full queue it makes room for others, and
 *    the sweep finds it again.
 */
import { copiesUnderWay, startCopy } from "./copies.ts"
import type { Draft } from "./draft.ts"
import { type ChunkKey, keyBehind } from "./identity.ts"
import { findRecord, type ChunkRecord } from "./packed-tree.ts"
import {
  isRepair,
  queueRepair,
  repairClasses,
  repairQueue,
  wantOf,
  type RepairClass
} from "./repair-class.ts"
import { anyTargetIsFree, chooseSource, chooseTarget } from "./repair-devices.ts"
import { inSafeMode } from "./safe-mode-view.ts"
import { COUNTED, countSlots } from "./slots.ts"

/** Of so many copies one is owed to the class whose turn it is. */
export const FAIR_SHARE = 8

/** Whether repair may run at this moment. */
export const repairMayRun = (draft: Draft): boolean =>
  !inSafeMode(draft) &&
  !draft.scalars.repairStopped &&
  draft.now >= draft.scalars.safeMode.leftAt + draft.settings.repairDelayMs

/** The chunks of a class in one round of planning. */
interface Lane {
  readonly name: RepairClass
  /** The chunk that was looked at last. */
  last: ChunkKey | undefined
  /** Those that were tried and wait on. */
  readonly waiting: Array<ChunkKey>
}

/** The class that the next copy is owed to: the first in turn that has a chunk waiting. */
const owedClass = (draft: Draft): RepairClass | undefined => {
  const { repairTurn, repairsSinceOwed } = draft.scalars
  if (repairsSinceOwed < FAIR_SHARE - 1) return undefined
  for (let step = 0; step < repairClasses.length; step++) {
    const name = repairClasses[(repairTurn + step) % repairClasses.length]!
    if (repairQueue(draft, name).size > 0) return name
  }
  return undefined
}

const noteStarted = (draft: Draft, name: RepairClass, copies: number): void => {
  const { scalars } = draft
  if (copies === 0) return
  if (owedClass(draft) !== name) scalars.repairsSinceOwed += copies
  else {
    scalars.repairsSinceOwed = 0
    scalars.repairTurn = (repairClasses.indexOf(name) + 1) % repairClasses.length
  }
}

/** The next chunk to look at: of the class that is owed a copy, or of the most urgent one. */
const nextChunk = (draft: Draft, lanes: ReadonlyArray<Lane>) => {
  const owed = owedClass(draft)
  const first = lanes.filter(({ name }) => name === owed)
  for (const lane of [...first, ...lanes]) {
    const [entry] = repairQueue(draft, lane.name).slice(1, keyBehind(lane.last))
    if (entry === undefined) continue
    return { lane, key: entry[0], extra: lane.name === "only-copy" || lane.name === owed }
  }
  return undefined
}

/** Plans copies for the chunks that wait; see the module comment. */
export const planRepair = (draft: Draft): void => {
  if (!repairMayRun(draft)) return
  const lanes = repairClasses.map((name): Lane => ({ name, last: undefined, waiting: [] }))
  while (anyTargetIsFree(draft)) {
    const next = nextChunk(draft, lanes)
    if (next === undefined) break
    const { lane, key, extra } = next
    lane.last = key
    const { copies, waits } = planChunk(draft, lane.name, key, extra)
    noteStarted(draft, lane.name, copies)
    if (waits) lane.waiting.push(key)
    else repairQueue(draft, lane.name).delete(key)
  }
  for (const lane of lanes) makeRoom(draft, lane)
}

/** Takes chunks that were tried in vain out of a full queue. */
const makeRoom = (draft: Draft, { name, waiting }: Lane): void => {
  const queue = repairQueue(draft, name)
  if (queue.size < draft.settings.backlogMax) return
  for (const key of waiting) queue.delete(key)
}

interface Planned {
  readonly copies: number
  /** The chunk keeps its place in the queue. */
  readonly waits: boolean
}

const planChunk = (draft: Draft, name: RepairClass, key: ChunkKey, extra: boolean): Planned => {
  const record = findRecord(draft.chunks, key)
  if (record === undefined) return { copies: 0, waits: false }
  const want = wantOf(draft, record.set, record.goal)
  if (want === name) return planCopies(draft, record, extra)
  if (isRepair(want)) queueRepair(draft, want, key)
  return { copies: 0, waits: false }
}

/**
 * The copies that a chunk still lacks, those under way not counted. One that is badly spread wants
 * one in a better place; what is too much afterwards is trimmed.
 */
const missingCopies = (draft: Draft, record: ChunkRecord): number => {
  const counted = countSlots(draft.sets, draft.slots, record.set, COUNTED)
  const wanted = counted === record.goal ? counted + 1 : record.goal
  return wanted - counted - copiesUnderWay(draft, record).length
}

const planCopies = (draft: Draft, record: ChunkRecord, extra: boolean): Planned => {
  let copies = 0
  for (let missing = missingCopies(draft, record); missing > 0; missing--) {
    const source = chooseSource(draft, record, extra)
    if (source === undefined) return { copies, waits: true }
    const target = chooseTarget(draft, record, extra)
    if (target === "none") return { copies, waits: false }
    if (target === "busy") return { copies, waits: true }
    startCopy(draft, record, { source, target })
    copies++
  }
  return { copies, waits: false }
}
