/**
 * Recovery: the durable state from a snapshot and the entries after it.
 *
 * A snapshot is a sequence of journal entries too, one for each fact that still holds, so replaying
 * it and the log after it is one and the same thing. What is volatile begins anew: no device has
 * reported, no lease is open, safe mode is pending, and numbers go on above the last durable mark.
 */
import { newDevice, putDevice } from "./devices.ts"
import { openDraft, sealDraft, type Draft } from "./draft.ts"
import { emptyState } from "./empty-state.ts"
import { QUARANTINED } from "./figures.ts"
import { forgetRecord } from "./free.ts"
import type { ChunkVersion, DeviceId } from "./identity.ts"
import type { JournalEntry } from "./journal-entry.ts"
import type { Device, State } from "./model.ts"
import { mapEntries } from "./ordered-map.ts"
import { findRecord, newCursor, rowRecord, seekFrom, advance } from "./packed-tree.ts"
import type { Settings } from "./settings.ts"

const deviceOf = (draft: Draft, entry: { readonly deviceId: DeviceId }): Device => {
  const known = draft.devices.get(entry.deviceId)
  if (known !== undefined) return known
  const device = newDevice(draft, entry.deviceId)
  putDevice(draft, device)
  return device
}

const replayEntry = (draft: Draft, entry: JournalEntry): void => {
  const { scalars } = draft
  switch (entry._tag) {
    case "Marks":
      scalars.fileIdLimit = Math.max(scalars.fileIdLimit, entry.fileIdLimit)
      scalars.versionLimit = Math.max(scalars.versionLimit, entry.versionLimit)
      scalars.nextFileId = scalars.fileIdLimit
      scalars.nextVersion = scalars.versionLimit
      return
    case "Committed": {
      const before = findRecord(draft.chunks, entry)
      if (before !== undefined) draft.counts.add(before.set, before.goal, -1)
      draft.chunks.put({ ...entry, set: 0 })
      draft.counts.add(0, entry.goal, 1)
      return
    }
    case "Freed":
      forgetRecord(draft, entry)
      return
    case "Settled":
      draft.freed.delete(entry)
      return
    case "DeviceKnown": {
      const { epoch, desired, hostId } = entry
      const logged = { loggedEpoch: epoch, loggedHost: hostId }
      putDevice(draft, { ...deviceOf(draft, entry), epoch, desired, hostId, ...logged })
      return
    }
    case "DeviceForgotten":
      draft.devices.delete(entry.deviceId)
      draft.found.delete(entry.deviceId)
      return
    case "Quarantined": {
      const { index } = deviceOf(draft, entry)
      const unknown = { slot: -1, length: 0, checksum: 0, future: false }
      for (const copy of entry.copies) {
        const key = { ...copy, device: index }
        if (draft.quarantine.get(key) === undefined) draft.figures.add(index, QUARANTINED, 1)
        draft.quarantine.set(key, { ...unknown, ageMs: entry.ageMs, since: draft.now })
      }
      return
    }
    case "Released": {
      const { index } = deviceOf(draft, entry)
      for (const copy of entry.copies) {
        const gone = draft.quarantine.delete({ ...copy, device: index })
        if (gone) draft.figures.add(index, QUARANTINED, -1)
      }
      return
    }
    case "FileMark":
      draft.fileMarks.set(entry.fileId, { next: entry.next, openLeases: 0, durable: true })
  }
}

/**
 * Rebuilds the state from the entries of a snapshot and of the log after it, in order. Leases to
 * report are numbered from `reportsFrom`: drawn at each start, it keeps a part that was sent to the
 * service's last life from being taken as one of this life.
 */
export const recover = (
  settings: Settings,
  entries: Iterable<JournalEntry>,
  now: number,
  options: { readonly reportsFrom?: number } = {}
): State => {
  const draft = openDraft(emptyState(settings), now)
  draft.scalars.reportSequence = options.reportsFrom ?? 0
  for (const entry of entries) replayEntry(draft, entry)
  return sealDraft(draft).state
}

/** Replays further entries on a recovered state, for logs that are read a part at a time. */
export const replay = (state: State, entries: Iterable<JournalEntry>): State => {
  const draft = openDraft(state, state.now)
  for (const entry of entries) replayEntry(draft, entry)
  return sealDraft(draft).state
}

/** The durable facts of a state as entries, one for each that still holds. */
export function* snapshotEntries(state: State): Generator<JournalEntry> {
  const { fileIdLimit, versionLimit } = state
  yield { _tag: "Marks", fileIdLimit, versionLimit }
  for (const [, device] of mapEntries(state.devices)) {
    const { deviceId, loggedEpoch: epoch, loggedHost: hostId, desired } = device
    if (epoch >= 0) yield { _tag: "DeviceKnown", deviceId, epoch, desired, hostId }
  }
  const cursor = newCursor()
  let here = seekFrom(state.chunks, { fileId: 0, chunkId: 0 }, cursor)
  while (here) {
    const { set: _set, ...record } = rowRecord(cursor.words, cursor.offset)
    yield { _tag: "Committed", ...record }
    here = advance(state.chunks, cursor)
  }
  for (const [{ fileId, chunkId }, { version }] of mapEntries(state.freed)) {
    yield { _tag: "Freed", fileId, chunkId, version }
  }
  for (const [fileId, mark] of mapEntries(state.fileMarks)) {
    if (mark.durable) yield { _tag: "FileMark", fileId, next: mark.next }
  }
  yield* snapshotQuarantine(state)
}

function* snapshotQuarantine(state: State): Generator<JournalEntry> {
  let device = -1
  let ageMs = 0
  let copies: Array<ChunkVersion> = []
  const flush = (): JournalEntry | null => {
    const deviceId = state.deviceNames[device]
    if (deviceId === undefined || copies.length === 0) return null
    return { _tag: "Quarantined", deviceId, ageMs, copies }
  }
  for (const [key, unknown] of mapEntries(state.quarantine)) {
    const age = unknown.ageMs + state.now - unknown.since
    if (key.device !== device || age !== ageMs || copies.length >= 1000) {
      const entry = flush()
      if (entry !== null) yield entry
      device = key.device
      ageMs = age
      copies = []
    }
    const { fileId, chunkId, version } = key
    copies.push({ fileId, chunkId, version })
  }
  const entry = flush()
  if (entry !== null) yield entry
}
