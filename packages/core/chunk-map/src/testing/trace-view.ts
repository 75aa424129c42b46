/** What the traces show of a chunk map and of its servers' disks, a line each. */
import type { TraceView } from "@holdfast/suites"
import type { Alarm } from "../draft.ts"
import { openDraft, type Draft } from "../draft.ts"
import type { ChunkCommand } from "../heartbeat.ts"
import type { ChunkVersion } from "../identity.ts"
import type { JournalEntry } from "../journal-entry.ts"
import { healthOf, locate } from "../locate.ts"
import type { State } from "../model.ts"
import { mapEntries } from "../ordered-map.ts"
import { snapshotEntries } from "../recover.ts"
import { viewSafeMode } from "../safe-mode.ts"
import { listDevices } from "../status.ts"
import { chunkOf, type Cluster } from "./cluster.ts"
import type { Disk } from "./disks.ts"

/** A version of a chunk as one word, `file/chunk@version`. */
export const nameOfCopy = ({ chunkId, fileId, version }: ChunkVersion): string =>
  `${fileId}/${chunkId}@${version}`

/** The bytes that every server of a trace writes for a version. */
export const bytesOf = (copy: ChunkVersion) =>
  chunkOf({ ...copy, leaseId: copy.version, devices: [], expiresAt: 0 })

const describeDevice = (entry: JournalEntry & { readonly _tag: "DeviceKnown" }): string => {
  const { deviceId, desired, epoch, hostId } = entry
  const where = hostId === null ? deviceId : `${deviceId}@${hostId}`
  return `DeviceKnown ${where} epoch ${epoch}${desired === "normal" ? "" : ` ${desired}`}`
}

/** A journal entry as a line. */
export const describeEntry = (entry: JournalEntry): string => {
  switch (entry._tag) {
    case "Marks":
      return `Marks: files below ${entry.fileIdLimit}, versions below ${entry.versionLimit}`
    case "Committed":
      return `Committed ${nameOfCopy(entry)} goal ${entry.goal}`
    case "Freed":
    case "Settled":
      return `${entry._tag} ${nameOfCopy(entry)}`
    case "DeviceKnown":
      return describeDevice(entry)
    case "DeviceForgotten":
      return `DeviceForgotten ${entry.deviceId}`
    case "Quarantined":
    case "Released":
      return `${entry._tag} ${entry.copies.map(nameOfCopy).join(" ")} on ${entry.deviceId}`
    case "FileMark":
      return `FileMark ${entry.fileId}: the next chunk is ${entry.next}`
  }
}

/** An alarm as a line. */
export const describeAlarm = ({ kind, message }: Alarm): string => `${kind}: ${message}`

/** A command to a chunk server as a line. */
export const describeCommand = (state: State, command: ChunkCommand): string => {
  const device = state.deviceNames[command.device] ?? "?"
  const what = `${device} to ${command._tag.toLowerCase()} ${nameOfCopy(command)}`
  const from = command._tag === "Copy" ? ` from ${state.deviceNames[command.source]}` : ""
  return `${what}${from} (command ${command.commandId})`
}

const describeDisk = (disk: Disk): string =>
  [...disk.copies.values()]
    .map((copy) => {
      const isRotten = copy.checksum !== bytesOf(copy).checksum
      return `${nameOfCopy(copy)}${isRotten ? " rotten" : ""}`
    })
    .join(", ")

const putDevices = (lines: Map<string, string>, draft: Draft): void => {
  for (const { device, state } of listDevices(draft, { after: null, limit: 100 }).devices) {
    const parts = [device.hostId === null ? state : `${state} at ${device.hostId}`]
    if (device.epoch >= 0) parts.push(`epoch ${device.epoch}`)
    if (device.desired !== "normal") parts.push(device.desired)
    if (device.serving && !device.fresh) parts.push("in doubt")
    if (device.report !== null) parts.push("asked to report")
    lines.set(`device ${device.deviceId}`, parts.join(", "))
  }
}

const putChunks = (lines: Map<string, string>, draft: Draft): void => {
  for (const entry of snapshotEntries(draft.base)) {
    if (entry._tag !== "Committed") continue
    const where = locate(draft, entry)
    if (where._tag === "NoSuchChunk") continue
    const health = healthOf(draft, where.record)
    const holders = where._tag === "Found" ? [...where.holders].sort().join(" ") : "nothing"
    const text = `@${entry.version} goal ${entry.goal} on ${holders}, ${health}`
    lines.set(`chunk ${entry.fileId}/${entry.chunkId}`, text)
  }
}

/** What is under way and what is odd. */
const putTables = (lines: Map<string, string>, state: State): void => {
  const name = (device: number) => state.deviceNames[device] ?? "?"
  for (const [, lease] of mapEntries(state.leases)) {
    const devices = lease.devices.map(name).join(" ")
    lines.set(`reserved ${nameOfCopy(lease)}`, `on ${devices} until ${lease.expiresAt}`)
  }
  for (const [key, job] of mapEntries(state.copyJobs)) {
    lines.set(`copying ${nameOfCopy(job)}`, `from ${name(job.source)} to ${name(key.device)}`)
  }
  for (const [key, { attempts, reason }] of mapEntries(state.deletions)) {
    const told = attempts === 0 ? "waits" : attempts === 1 ? "told" : `told ${attempts} times`
    lines.set(`deletion of ${nameOfCopy(key)} on ${name(key.device)}`, `${reason}, ${told}`)
  }
  for (const [key] of mapEntries(state.verifications)) {
    lines.set(`check of ${nameOfCopy(key)} on ${name(key.device)}`, "under way")
  }
  for (const [key, copies] of mapEntries(state.odd)) {
    for (const { kind, slot, version } of copies) {
      const device = name(state.slots.devices[slot] ?? -1)
      lines.set(`copy ${nameOfCopy({ ...key, version })} on ${device}`, kind)
    }
  }
  for (const [key, unknown] of mapEntries(state.quarantine)) {
    const kind = unknown.future ? "never given out" : "unknown"
    lines.set(`quarantined ${nameOfCopy(key)} on ${name(key.device)}`, kind)
  }
  for (const [key, { pending, version }] of mapEntries(state.freed)) {
    lines.set(`freed ${nameOfCopy({ ...key, version })}`, `${pending} deletions pending`)
  }
}

/** Everything that a trace shows of a cluster. */
export const viewCluster = ({ now, servers, state }: Cluster): TraceView => {
  const draft = openDraft(state, now)
  const lines = new Map<string, string>([["safe mode", viewSafeMode(draft).phase]])
  putDevices(lines, draft)
  putChunks(lines, draft)
  putTables(lines, state)
  for (const { disks, hostId } of servers.values()) {
    for (const disk of disks) {
      if (disk.copies.size > 0)
        lines.set(`files of ${disk.deviceId} at ${hostId}`, describeDisk(disk))
    }
  }
  return lines
}
