/**
 * The chunk map of the running metadata service.
 *
 * | invariant | what must hold |
 * |---|---|
 * | chunk-map-... | the core's own invariants, each a recount |
 * | liveness | once nothing fails: safe mode off, all devices live, all chunks at goal, nothing pending |
 * | liveness | and the devices hold exactly that: as many intact copies, no damage, nothing else |
 */
import { durableCopies } from "@holdfast/adapter-memory"
import { invariants, openDraft, type State, status } from "@holdfast/chunk-map"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { directoryOf } from "../cluster/nodes.ts"
import type { ChunkHistory } from "./chunk-history.ts"
import type { Oracle } from "./oracle.ts"

const looksPerJudgement = 4

const counted = (words: string, count: number): ReadonlyArray<string> =>
  count === 0 ? [] : [`${count} ${words}`]

/** The devices that were taken out, and those that still wait to be. */
const retiredIn = (state: State) => {
  const { devices } = openDraft(state, state.now)
  const all = devices.slice(devices.size).map(([, device]) => device)
  return {
    removed: all.filter(({ desired }) => desired === "removed").map(({ deviceId }) => deviceId),
    draining: all.filter(({ desired }) => desired === "draining")
  }
}

const unsettledIn = (state: State, deviceCount: number): ReadonlyArray<string> => {
  const { chunks, devices: found, pending, safeMode } = status(openDraft(state, state.now))
  const { draining, removed } = retiredIn(state)
  const devices = deviceCount - removed.length
  return [
    ...(safeMode.phase === "off" ? [] : [`safe mode is ${safeMode.phase}`]),
    ...(found.live === devices ? [] : [`${found.live} of ${devices} devices are live`]),
    ...counted("devices not drained", draining.length),
    ...counted("chunks below their goal", chunks.belowGoal),
    ...counted("chunks with a surplus", chunks.surplus),
    ...counted("chunks unknown", chunks.unknown),
    ...counted("chunks missing", chunks.missing),
    ...counted("chunks corrupt", chunks.corrupt),
    ...counted("copies under way", pending.copies),
    ...counted("deletions pending", pending.deletions),
    ...counted("reservations", pending.reservations),
    ...counted("unknown copies", pending.quarantined),
    ...counted("freed chunks not settled", pending.freed)
  ]
}

/** Where the disks are not what the journal says: damage that is not found yet, and strays. */
const disksApart = (
  cluster: SimulatedCluster,
  history: ChunkHistory,
  removed: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const apart: Array<string> = []
  const current = history.current()
  const intact = new Map<number, number>()
  const versions = new Set(current.map(({ version }) => version))
  for (const device of cluster.devices.filter((each) => !removed.some((one) => one === each))) {
    for (const copy of durableCopies(cluster.site.disk(device).cells(directoryOf(device)))) {
      const { chunkId, fileId, version } = copy
      if (copy.isIntact) intact.set(version, (intact.get(version) ?? 0) + 1)
      const name = `${fileId}/${chunkId}@${version}`
      if (!copy.isIntact) apart.push(`${device} holds damaged ${name}`)
      if (!versions.has(version)) apart.push(`${device} holds ${name}, which is not committed`)
    }
  }
  for (const { chunkId, fileId, goal, version } of current) {
    const count = intact.get(version) ?? 0
    const name = `${fileId}/${chunkId}@${version}`
    if (count !== goal) apart.push(`${name} has ${count} intact copies, its goal is ${goal}`)
  }
  return apart
}

/** Judges the chunk map. */
export const makeChunkMapOracle = (cluster: SimulatedCluster, history: ChunkHistory): Oracle => {
  let looks = 0
  return {
    step: () => {
      looks += 1
      const state = cluster.metadata.service?.state()
      if (state === undefined || looks % looksPerJudgement !== 0) return
      for (const { message, rule } of invariants(state)) {
        cluster.site.report(`chunk-map-${rule}`, message)
      }
    },
    unsettled: () => {
      if (cluster.devices.length === 0) return []
      const state = cluster.metadata.service?.state()
      if (state === undefined) return ["the metadata service is down"]
      const inMap = unsettledIn(state, cluster.devices.length)
      return inMap.length > 0 ? inMap : disksApart(cluster, history, retiredIn(state).removed)
    }
  }
}
