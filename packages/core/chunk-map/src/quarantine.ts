/**
 * Unknown copies: on a device, in no record. They are kept, and deleted only after the quarantine
 * age, with full knowledge, out of safe mode (`sweep-unknown.ts`). Their ages are durable.
 */
import type { Draft } from "./draft.ts"
import { firstCopy } from "./devices.ts"
import { QUARANTINED } from "./figures.ts"
import type { ChunkCopy, ChunkVersion } from "./identity.ts"
import type { CopyKey, Device, Unknown } from "./model.ts"

/** Remembers an unknown copy; `known` when the same slot had it already. */
export const putUnknown = (
  draft: Draft,
  device: Device,
  copy: ChunkCopy,
  seen: { readonly slot: number; readonly future: boolean }
): "known" | "added" => {
  const { fileId, chunkId, version, length, checksum } = copy
  const key: CopyKey = { device: device.index, fileId, chunkId, version }
  const before = draft.quarantine.get(key)
  if (before?.slot === seen.slot) return "known"
  if (before !== undefined) {
    draft.quarantine.set(key, { ...before, ...seen, length, checksum })
    return "added"
  }
  if (draft.quarantine.size >= draft.settings.quarantineMax) {
    if (draft.scalars.quarantineOverflow++ === 0) {
      const many = `more than ${draft.settings.quarantineMax} unknown copies`
      draft.alarms.push({
        kind: "quarantine-full",
        subject: device.deviceId,
        message: `${many}; the others are counted only`
      })
    }
    return "added"
  }
  draft.quarantine.set(key, { ...seen, length, checksum, ageMs: 0, since: draft.now })
  draft.figures.add(device.index, QUARANTINED, 1)
  if (draft.canWrite) logQuarantined(draft, device, { fileId, chunkId, version })
  return "added"
}

/** Adds to the journal entry of the device at the end of the journal, or begins one. */
const logQuarantined = (draft: Draft, device: Device, copy: ChunkVersion): void => {
  const last = draft.journal.at(-1)
  const extends_ =
    last?._tag === "Quarantined" &&
    last.deviceId === device.deviceId &&
    last.ageMs === 0 &&
    last.copies.length < 1000
  if (extends_) last.copies.push(copy)
  else {
    draft.journal.push({
      _tag: "Quarantined",
      deviceId: device.deviceId,
      ageMs: 0,
      copies: [copy]
    })
  }
}

/** Takes copies out of the quarantine, durably. */
export const releaseUnknown = (
  draft: Draft,
  device: Device,
  keys: ReadonlyArray<CopyKey>
): void => {
  const copies: Array<ChunkVersion> = []
  for (const key of keys) {
    if (!draft.quarantine.delete(key)) continue
    const { fileId, chunkId, version } = key
    copies.push({ fileId, chunkId, version })
  }
  if (copies.length === 0) return
  draft.figures.add(device.index, QUARANTINED, -copies.length)
  if (draft.canWrite) draft.journal.push({ _tag: "Released", deviceId: device.deviceId, copies })
}

/** Releases what a complete report of a device did not name again. */
export const releaseUnreported = (draft: Draft, device: Device, slot: number): void => {
  let start: CopyKey = firstCopy(device.index)
  for (;;) {
    const some = draft.quarantine.slice(1000, start)
    const own = some.filter(([key]) => key.device === device.index)
    releaseUnknown(
      draft,
      device,
      own.filter(([, unknown]) => unknown.slot !== slot).map(([key]) => key)
    )
    const last = own.at(-1)
    if (last === undefined || own.length < 1000) return
    start = { ...last[0], version: last[0].version + 1 }
  }
}

/** How long an unknown copy has been known. */
export const unknownAge = (draft: Draft, unknown: Unknown): number =>
  unknown.ageMs + draft.now - unknown.since
