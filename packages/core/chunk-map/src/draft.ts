/**
 * A draft: one state being changed by a batch of commands.
 *
 * 1. The state that the draft began with never changes.
 * 2. A handler checks everything before it changes anything, so a refusal leaves no trace.
 * 3. A sealed draft may not be used again; what it was never leaves this package.
 */
import { CountsEdit } from "./counts.ts"
import { FiguresEdit } from "./figures.ts"
import { identityMax } from "./identity.ts"
import type { JournalEntry } from "./journal-entry.ts"
import type { Device, Scalars, State } from "./model.ts"
import { MapEdit, type OrderedMap } from "./ordered-map.ts"
import { newCursor, type Cursor } from "./packed-tree.ts"
import { TreeEdit } from "./packed-tree-edit.ts"
import { SlotsEdit } from "./slots.ts"
import type { Places } from "./spread.ts"

/** Something that an operator should hear of. */
export interface Alarm {
  readonly kind:
    | "device-claimed-twice"
    | "future-copy"
    | "corrupt-copy"
    | "mass-death"
    | "device-dead"
    | "quarantine-full"
    | "stalled"
  readonly subject: string
  readonly message: string
}

type EditOf<M> = M extends OrderedMap<infer K, infer V> ? MapEdit<K, V> : never
type Maps = {
  readonly [
    Name in keyof State as State[Name] extends OrderedMap<infer _K, infer _V> ? Name : never
  ]: EditOf<State[Name]>
}

/** A state being changed; see the module comment. */
export interface Draft extends Maps {
  readonly base: State
  readonly now: number
  /** False while the journal takes nothing: what would need it and can wait is left out. */
  readonly canWrite: boolean
  readonly settings: State["settings"]
  sets: State["sets"]
  readonly chunks: TreeEdit
  counts: CountsEdit
  readonly slots: SlotsEdit
  readonly figures: FiguresEdit
  readonly scalars: { -readonly [Name in keyof Scalars]: Scalars[Name] }
  deviceNames: State["deviceNames"]
  /** Devices that may take new copies; null until somebody asks, and after a device changed. */
  candidates: ReadonlyArray<Device> | null
  /** The hosts and racks of those devices; null in the same way. */
  places: Places | null
  /** Devices looked up before, until one of them changes. */
  readonly found: Map<string, Device>
  readonly cursor: Cursor
  readonly journal: Array<JournalEntry>
  readonly alarms: Array<Alarm>
}

/** What a batch made: the new state, what must be durable first, what to tell the operator. */
export interface Sealed {
  readonly state: State
  readonly journal: ReadonlyArray<JournalEntry>
  readonly alarms: ReadonlyArray<Alarm>
}

const scalarsOf = (state: State): Draft["scalars"] => ({
  now: state.now,
  lastTick: state.lastTick,
  graceUntil: state.graceUntil,
  nextFileId: state.nextFileId,
  fileIdLimit: state.fileIdLimit,
  nextVersion: state.nextVersion,
  versionLimit: state.versionLimit,
  seenFileId: state.seenFileId,
  seenVersion: state.seenVersion,
  requestSequence: state.requestSequence,
  reportSequence: state.reportSequence,
  safeMode: state.safeMode,
  repairStopped: state.repairStopped,
  repairTurn: state.repairTurn,
  repairsSinceOwed: state.repairsSinceOwed,
  sweepAt: state.sweepAt,
  oddSweepAt: state.oddSweepAt,
  freedSweepAt: state.freedSweepAt,
  unknownSweepAt: state.unknownSweepAt,
  sweepPasses: state.sweepPasses,
  balanceAt: state.balanceAt,
  balanceNotBefore: state.balanceNotBefore,
  drainNeeded: state.drainNeeded,
  drainClean: state.drainClean,
  drainBlocked: state.drainBlocked,
  quarantineOverflow: state.quarantineOverflow
})

/**
 * Opens a draft at a moment of monotonic time, in milliseconds; a moment before one already seen
 * counts as that one.
 */
export const openDraft = (
  base: State,
  now: number,
  options: { readonly canWrite: boolean } = { canWrite: true }
): Draft => {
  const scalars = scalarsOf(base)
  scalars.now = Math.max(now, base.now)
  return {
    base,
    now: scalars.now,
    canWrite: options.canWrite,
    settings: base.settings,
    sets: base.sets,
    scalars,
    chunks: new TreeEdit(base.chunks),
    counts: new CountsEdit(base.counts),
    slots: new SlotsEdit(base.slots),
    figures: new FiguresEdit(base.figures),
    deviceNames: base.deviceNames,
    candidates: null,
    places: null,
    found: new Map(),
    cursor: newCursor(),
    devices: new MapEdit(base.devices),
    hosts: new MapEdit(base.hosts),
    odd: new MapEdit(base.odd),
    deletions: new MapEdit(base.deletions),
    freed: new MapEdit(base.freed),
    quarantine: new MapEdit(base.quarantine),
    fileMarks: new MapEdit(base.fileMarks),
    leases: new MapEdit(base.leases),
    copyJobs: new MapEdit(base.copyJobs),
    copying: new MapEdit(base.copying),
    verifications: new MapEdit(base.verifications),
    onlyCopy: new MapEdit(base.onlyCopy),
    veryLow: new MapEdit(base.veryLow),
    low: new MapEdit(base.low),
    badlySpread: new MapEdit(base.badlySpread),
    requests: new MapEdit(base.requests),
    requestOrder: new MapEdit(base.requestOrder),
    journal: [],
    alarms: []
  }
}

/** Ends a draft. */
export const sealDraft = (draft: Draft): Sealed => ({
  state: {
    ...draft.scalars,
    settings: draft.settings,
    sets: draft.sets,
    chunks: draft.chunks.seal(),
    counts: draft.counts.seal(draft.base.counts),
    slots: draft.slots.seal(),
    figures: draft.figures.seal(),
    deviceNames: draft.deviceNames,
    devices: draft.devices.seal(),
    hosts: draft.hosts.seal(),
    odd: draft.odd.seal(),
    deletions: draft.deletions.seal(),
    freed: draft.freed.seal(),
    quarantine: draft.quarantine.seal(),
    fileMarks: draft.fileMarks.seal(),
    leases: draft.leases.seal(),
    copyJobs: draft.copyJobs.seal(),
    copying: draft.copying.seal(),
    verifications: draft.verifications.seal(),
    onlyCopy: draft.onlyCopy.seal(),
    veryLow: draft.veryLow.seal(),
    low: draft.low.seal(),
    badlySpread: draft.badlySpread.seal(),
    requests: draft.requests.seal(),
    requestOrder: draft.requestOrder.seal()
  },
  journal: draft.journal,
  alarms: draft.alarms
})

const BLOCK = 65_536

/** Whether that many file ids and numbers can still be given out. */
export const canAllot = (draft: Draft, count: number): boolean =>
  draft.scalars.nextVersion + count < identityMax && draft.scalars.nextFileId + count < identityMax

const logMarks = (draft: Draft): void => {
  const { fileIdLimit, versionLimit } = draft.scalars
  draft.journal.push({ _tag: "Marks", fileIdLimit, versionLimit })
}

/**
 * A number that was never given out before: a version, a lease or a command. The mark above it is
 * in the journal before any answer that carries it leaves.
 */
export const allotNumber = (draft: Draft): number => {
  const { scalars } = draft
  if (scalars.nextVersion >= scalars.versionLimit) {
    scalars.versionLimit = scalars.nextVersion + BLOCK
    logMarks(draft)
  }
  return scalars.nextVersion++
}

/** A file id that was never given out before. */
export const allotFileId = (draft: Draft): number => {
  const { scalars } = draft
  if (scalars.nextFileId >= scalars.fileIdLimit) {
    scalars.fileIdLimit = scalars.nextFileId + BLOCK
    logMarks(draft)
  }
  return scalars.nextFileId++
}

/**
 * Lifts the marks a whole block above everything that was seen: a lost journal may have given out
 * more than what devices have shown by now, in leases and on devices that are away.
 */
export const liftMarks = (draft: Draft): void => {
  const { scalars } = draft
  scalars.nextFileId = Math.max(scalars.nextFileId, scalars.seenFileId + 1) + BLOCK
  scalars.nextVersion = Math.max(scalars.nextVersion, scalars.seenVersion + 1) + BLOCK
  scalars.fileIdLimit = Math.max(scalars.fileIdLimit, scalars.nextFileId)
  scalars.versionLimit = Math.max(scalars.versionLimit, scalars.nextVersion)
  logMarks(draft)
}
