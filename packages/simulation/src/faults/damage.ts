/** Damage of what services read at their start, and disks that are there twice. */
import type { DiskFault } from "@holdfast/adapter-memory"
import { openDraft } from "@holdfast/chunk-map"
import { Effect } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { directoryOf, spareOf } from "../cluster/nodes.ts"
import type { Site } from "../cluster/site.ts"
import type { Fault } from "./fault.ts"

type FaultOf<Tag extends Fault["_tag"]> = Extract<Fault, { readonly _tag: Tag }>
type Flip = Extract<DiskFault, { readonly _tag: "FlipBit" }>

const journalDisk = "metadata"
const journalFile = "journal"
const heardMillis = 2_000

/** Turns a bit over; the same again turns it back. The reader of the disk is down. */
const damage = (
  site: Site,
  disk: string,
  { flip, startsBefore }: { readonly flip: Flip; readonly startsBefore: number }
): void => {
  site.trace.add(`damage ${disk}: ${flip.key}`)
  Effect.runSync(site.disk(disk).apply(flip))
  site.damaged.set(disk, { flip, startsBefore })
}

const mend = (site: Site, disk: string): boolean => {
  const damaged = site.damaged.get(disk)
  if (damaged === undefined) return false
  Effect.runSync(site.disk(disk).apply(damaged.flip))
  site.damaged.delete(disk)
  site.trace.add(`mended ${disk}`)
  return true
}

/** Kills the metadata service and damages a part of its journal that is not the newest append. */
export const damageJournal = (
  cluster: SimulatedCluster,
  fault: FaultOf<"DamagedJournal">
): void => {
  const { metadata, site } = cluster
  if (site.damaged.has(journalDisk)) return
  metadata.kill()
  const cells = site.disk(journalDisk).cells(journalFile)
  const keys = [...cells.keys()].sort()
  const newest = keys.findLast((key) => key.startsWith("a/"))
  const damageable = keys.filter((key) => key !== newest && (cells.get(key)?.bytes.length ?? 0) > 0)
  const key = damageable[fault.pick % Math.max(1, damageable.length)]
  if (key !== undefined) {
    const byte = fault.byte % (cells.get(key)?.bytes.length ?? 1)
    const flip = { _tag: "FlipBit", file: journalFile, key, byte, bit: fault.bit } as const
    damage(site, journalDisk, { flip, startsBefore: metadata.starts })
  }
  metadata.start()
}

/** Puts the journal right again, as from a copy of the disk. */
export const mendJournal = ({ metadata, site }: SimulatedCluster): void => {
  if (mend(site, journalDisk)) metadata.start()
}

const hostOf = (cluster: SimulatedCluster, device: string) =>
  cluster.hosts.find(({ disks }) => disks.includes(cluster.site.disk(device)))

/** Restarts the host of a device whose identity is damaged meanwhile. */
export const damageIdentity = (
  cluster: SimulatedCluster,
  fault: FaultOf<"DamagedIdentity">
): void => {
  const { site } = cluster
  const { bit, device } = fault
  const file = directoryOf(device)
  const length = site.disk(device).cells(file).get("identity")?.bytes.length ?? 0
  if (site.damaged.has(device) || length === 0) return
  const host = hostOf(cluster, device)
  if (host === undefined) return
  host.kill()
  const flip = { _tag: "FlipBit", file, key: "identity", byte: fault.byte % length, bit } as const
  damage(site, device, { flip, startsBefore: host.starts })
  host.start()
}

/** Puts an identity right again; its host finds it there by itself. */
export const mendIdentity = ({ site }: SimulatedCluster, device: string): void => {
  mend(site, device)
}

/** Whether the metadata service heard a device just now, so that it will expect it for a while. */
const isHeard = (cluster: SimulatedCluster, device: string): boolean => {
  const state = cluster.metadata.service?.state()
  if (state === undefined) return false
  const known = openDraft(state, state.now).devices.get(device)
  return known?.liveness === "online" && state.now - known.lastHeard < heardMillis
}

/** Restarts a host with a copy of a device that another one serves. */
export const cloneDevice = (
  cluster: SimulatedCluster,
  { device, node }: FaultOf<"Clone">
): void => {
  const { site } = cluster
  const host = cluster.hosts.find(({ name }) => name === node)
  if (host === undefined || host === hostOf(cluster, device) || !isHeard(cluster, device)) return
  host.kill()
  const spare = spareOf(node)
  site.disk(spare).replace(directoryOf(spare), site.disk(device).cells(directoryOf(device)))
  site.trace.add(`${node} has a copy of ${device}`)
  host.start()
}

/** Takes a copied device out again. */
export const removeClone = (cluster: SimulatedCluster, node: string): void => {
  const spare = spareOf(node)
  const disk = cluster.site.disk(spare)
  if (disk.cells(directoryOf(spare)).size === 0) return
  const host = cluster.hosts.find(({ name }) => name === node)
  host?.kill()
  disk.replace(directoryOf(spare), new Map())
  host?.start()
}
