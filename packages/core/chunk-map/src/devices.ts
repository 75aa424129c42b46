/** Devices: their records, their slots, and what their copies count for. */
import type { Draft } from "./draft.ts"
import { DELETIONS, DELETIONS_TOLD } from "./figures.ts"
import type { DeviceId, HostId } from "./identity.ts"
import type { CommandKey, CopyKey, Device } from "./model.ts"
import { ringSeed } from "./ring-seed.ts"
import { ASSURED, COUNTED, EXPECTED, LOCATED, ONLINE, RETIRED } from "./slots.ts"

/** The first key of a device's copies, for scans. */
export const firstCopy = (device: number): CopyKey => ({
  device,
  fileId: 0,
  chunkId: 0,
  version: 0
})

/** The first key of a device's commands, for scans. */
export const firstCommand = (device: number): CommandKey => ({ device, commandId: 0 })

/** The device of a name; remembered, because receipts name the same few again and again. */
export const findDevice = (draft: Draft, deviceId: string): Device | undefined => {
  const known = draft.found.get(deviceId)
  if (known !== undefined) return known
  const device = draft.devices.get(deviceId)
  if (device !== undefined) draft.found.set(deviceId, device)
  return device
}

/** The device of an index. */
export const deviceAt = (draft: Draft, index: number): Device | undefined => {
  const name = draft.deviceNames[index]
  return name === undefined ? undefined : findDevice(draft, name)
}

/** The device that a slot belongs to, while the slot is its present one. */
export const deviceOfSlot = (draft: Draft, slot: number): Device | undefined => {
  const device = deviceAt(draft, draft.slots.devices[slot] ?? -1)
  return device?.slot === slot ? device : undefined
}

/** The device whose present slot, or whose report under way, the slot is. */
export const deviceOfOpenSlot = (draft: Draft, slot: number): Device | undefined => {
  const device = deviceAt(draft, draft.slots.devices[slot] ?? -1)
  return device?.slot === slot || device?.report?.slot === slot ? device : undefined
}

/** All devices, in order of their ids. */
export const allDevices = (draft: Draft): ReadonlyArray<Device> =>
  draft.devices.slice(draft.settings.devicesMax).map(([, device]) => device)

/** What the copies of a device count for. */
export const flagsOf = (device: Device): number => {
  const gone = device.desired === "removed" || device.liveness === "dead"
  if (gone) return RETIRED
  if (!device.serving || device.liveness === "absent") return EXPECTED
  const online = device.liveness === "online"
  const counted = device.desired !== "draining"
  return (
    LOCATED |
    (online ? ONLINE : 0) |
    (counted ? COUNTED : 0) |
    (online && counted && device.fresh ? ASSURED : 0)
  )
}

/** Stores a device and what its copies count for from now on. */
export const putDevice = (draft: Draft, device: Device): void => {
  draft.devices.set(device.deviceId, device)
  draft.candidates = null
  draft.places = null
  draft.found.delete(device.deviceId)
  if (device.slot < 0) return
  const flags = flagsOf(device)
  if (draft.slots.flags[device.slot] !== flags) draft.slots.mark(device.slot, flags)
}

/** Makes durable who serves the device, under which epoch, and what is wanted of it. */
export const logDevice = (draft: Draft, device: Device): Device => {
  const { deviceId, epoch, desired, hostId } = device
  draft.journal.push({ _tag: "DeviceKnown", deviceId, epoch, desired, hostId })
  return { ...device, loggedEpoch: epoch, loggedHost: hostId }
}

/** A device that was never heard of, without any copy. */
export const newDevice = (draft: Draft, deviceId: DeviceId): Device => {
  // A device that was forgotten and is back has its former index: what still names it stays right.
  const former = draft.deviceNames.indexOf(deviceId)
  const index = former >= 0 ? former : draft.deviceNames.length
  if (former < 0) draft.deviceNames = [...draft.deviceNames, deviceId]
  return {
    deviceId,
    index,
    ringSeed: ringSeed(deviceId),
    hostId: null,
    rack: "",
    epoch: 0,
    loggedEpoch: -1,
    loggedHost: null,
    desired: "normal",
    liveness: "absent",
    slot: -1,
    serving: false,
    fresh: false,
    report: null,
    finishedReport: null,
    lastHeard: draft.now,
    awaitedSince: draft.now,
    diedAt: -1,
    capacity: 0,
    used: 0,
    available: 0,
    saidDigest: null,
    mapDigest: null
  }
}

/** Forgets what a device was told: its process is gone and with it all its commands. */
export const forgetCommands = (draft: Draft, device: Device): void => {
  for (;;) {
    const some = draft.deletions.slice(1000, firstCopy(device.index))
    const own = some.filter(([key]) => key.device === device.index)
    for (const [key, deletion] of own) {
      draft.deletions.delete(key)
      if (deletion.reason === "freed") settlePending(draft, key, -1)
    }
    if (own.length < 1000) break
  }
  draft.figures.clear(device.index, DELETIONS)
  draft.figures.clear(device.index, DELETIONS_TOLD)
  for (const [key] of draft.verifications.slice(1000, firstCopy(device.index))) {
    if (key.device === device.index) draft.verifications.delete(key)
  }
}

/** Counts a deletion of a freed chunk's copy in or out. */
export const settlePending = (draft: Draft, key: CopyKey, change: number): void => {
  const freed = draft.freed.get(key)
  if (freed === undefined) return
  const { fileId, chunkId } = key
  draft.freed.set({ fileId, chunkId }, { ...freed, pending: freed.pending + change })
}

/** Whether every known device has said what it holds, or is gone for good. */
export const knowledgeIsFull = (draft: Draft): boolean =>
  allDevices(draft).every(
    (device) => device.desired === "removed" || (device.serving && device.liveness !== "dead")
  )

/** Devices that may take new copies: reported, heard, meant to be used. */
export const candidates = (draft: Draft): ReadonlyArray<Device> => {
  draft.candidates ??= allDevices(draft).filter(
    (device) => device.serving && device.liveness === "online" && device.desired === "normal"
  )
  return draft.candidates
}

/** Where a device is reached. */
export interface DeviceAddress {
  readonly deviceId: DeviceId
  readonly hostId: HostId
  readonly url: string
}

/** Where a device is reached; undefined while no host serves it. */
export const addressOf = (draft: Draft, deviceId: string): DeviceAddress | undefined => {
  const device = findDevice(draft, deviceId)
  if (device === undefined || device.hostId === null) return undefined
  const host = draft.hosts.get(device.hostId)
  if (host === undefined) return undefined
  return { deviceId: device.deviceId, hostId: device.hostId, url: host.url }
}
