/** Lets a fault happen, and ends it. */
import {
  type DiskFault,
  type DurableCopy,
  durableCopies,
  type DurablePartition,
  durablePartitions,
  type LinkFaults,
  type NetworkFault
} from "@holdfast/adapter-memory"
import { FACTOR_DEFAULT } from "@holdfast/keyspace"
import { Effect } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { directoryOf } from "../cluster/nodes.ts"
import { diskBytes, type Site } from "../cluster/site.ts"
import {
  cloneDevice,
  damageIdentity,
  damageJournal,
  mendIdentity,
  mendJournal,
  removeClone
} from "./damage.ts"
import { type Fault, printFault } from "./fault.ts"
import { operate } from "./operator.ts"

/** How links are while nothing is wrong: nothing is lost, and everything takes a moment. */
const soundLinks: LinkFaults = {
  loss: 0,
  duplication: 0,
  delayMillis: [0, 2],
  reorder: 0
}

/** How long a sync takes while nothing is wrong, so that a crash can come before its end. */
const soundSyncMillis = 1

/** The file of a peer's disk that holds its partitions. */
const partitionsFile = "partitions"

const partitionsOn = (cluster: SimulatedCluster, peer: string): ReadonlyArray<DurablePartition> =>
  durablePartitions(cluster.site.disk(peer).cells(partitionsFile))

const network = (site: Site, fault: NetworkFault): void => Effect.runSync(site.network.apply(fault))

const disk = (site: Site, name: string, fault: DiskFault): void =>
  Effect.runSync(site.disk(name).apply(fault))

/** From now on so many bytes more fit on a disk. */
const leaveRoom = (site: Site, name: string, bytes: number): void => {
  const { used } = Effect.runSync(site.disk(name).usage)
  disk(site, name, { _tag: "Capacity", bytes: used + bytes })
}

/** Kills a peer and damages a partition that every owner holds in the same state. */
const damageStore = (
  cluster: SimulatedCluster,
  fault: Extract<Fault, { _tag: "DamagedStore" }>
): void => {
  const { site } = cluster
  cluster.servers.get(fault.node)?.kill()
  const owners = Math.min(FACTOR_DEFAULT, cluster.peers.length)
  const held = cluster.peers.flatMap(({ name }) => partitionsOn(cluster, name))
  // A write that one more holds would be lost to its majority: that is no fault to be survived.
  const whole = partitionsOn(cluster, fault.node).filter(
    ({ cell, state }) =>
      held.filter((other) => other.cell === cell && Buffer.compare(other.state, state) === 0)
        .length === owners
  )
  const partition = whole[fault.pick % Math.max(1, whole.length)]
  if (partition === undefined) return
  const { cell } = partition
  site.trace.add(`flip ${cell} of ${fault.node}`)
  const { bit, byte } = fault
  disk(site, fault.node, { _tag: "FlipBit", file: partitionsFile, key: cell, byte, bit })
}

/** The nodes whose disks have their own names. */
const diskNodes = (cluster: SimulatedCluster): ReadonlyArray<string> => [
  cluster.metadata.name,
  ...cluster.peers.map(({ name }) => name)
]

const setLinks = (site: Site, fault: Extract<Fault, { _tag: "Links" }>, faults: LinkFaults) =>
  network(site, { _tag: "Links", from: fault.from, to: fault.to, faults })

const everyPair = (
  cluster: SimulatedCluster,
  nodes: ReadonlyArray<string>,
  each: (from: string, to: string) => void
): void => {
  const all = [...cluster.servers.keys(), ...cluster.clients.map(({ name }) => name)]
  for (const left of nodes) {
    for (const right of all) {
      if (nodes.includes(right)) continue
      each(left, right)
      each(right, left)
    }
  }
}

/**
 * The copies of a device that damage may meet: good ones, of which others are left, none damaged.
 */
const flippable = (cluster: SimulatedCluster, device: string): ReadonlyArray<DurableCopy> => {
  const served = cluster.devices.filter((each) => !cluster.site.retired.has(each))
  const everywhere = served.flatMap((each) =>
    durableCopies(cluster.site.disk(each).cells(directoryOf(each))).map((copy) => ({ each, copy }))
  )
  return durableCopies(cluster.site.disk(device).cells(directoryOf(device))).filter((copy) => {
    const others = everywhere.filter(
      (other) =>
        other.each !== device &&
        other.copy.fileId === copy.fileId &&
        other.copy.chunkId === copy.chunkId &&
        other.copy.version === copy.version
    )
    return copy.isIntact && others.length > 0 && others.every((other) => other.copy.isIntact)
  })
}

const flip = (cluster: SimulatedCluster, fault: Extract<Fault, { _tag: "FlipBit" }>): void => {
  const copies = flippable(cluster, fault.device)
  const copy = copies[fault.pick % Math.max(1, copies.length)]
  if (copy === undefined) return
  const { fileId, chunkId, version } = copy
  cluster.site.trace.add(`flip ${fileId}/${chunkId}@${version} on ${fault.device}`)
  const file = directoryOf(fault.device)
  const { bit, byte } = fault
  disk(cluster.site, fault.device, { _tag: "FlipBit", file, key: copy.block, byte, bit })
}

const setStreams = (
  { streams }: Site,
  broker: {
    readonly unavailable: number
    readonly lostAcknowledgements: number
    readonly delayMillis: number
  }
): void => {
  const { delayMillis, lostAcknowledgements, unavailable } = broker
  Effect.runSync(streams.apply({ _tag: "Unavailable", count: unavailable }))
  Effect.runSync(streams.apply({ _tag: "LoseAcknowledgements", count: lostAcknowledgements }))
  Effect.runSync(streams.apply({ _tag: "DelayMillis", millis: delayMillis }))
}

const setStore = (
  site: Site,
  store: {
    readonly unavailable: number
    readonly lostAnswers: number
    readonly delayMillis: number
  }
): void => {
  Effect.runSync(site.keyValue.apply({ _tag: "Unavailable", count: store.unavailable }))
  Effect.runSync(site.keyValue.apply({ _tag: "LoseAnswers", count: store.lostAnswers }))
  Effect.runSync(site.keyValue.apply({ _tag: "DelayMillis", millis: store.delayMillis }))
}

/** One of the workers that run a shard now. */
const ownerOf = (cluster: SimulatedCluster, pick: number) => {
  const owners = cluster.workers.filter(
    ({ isPaused, service }) =>
      service !== undefined && !isPaused && Effect.runSync(service.status).shards.length > 0
  )
  return owners[pick % Math.max(1, owners.length)]
}

/** How the broker's stores answer while nothing is wrong. */
const soundStore = { unavailable: 0, lostAnswers: 0, delayMillis: 15 }
const soundStreams = { unavailable: 0, lostAcknowledgements: 0, delayMillis: 2 }

/** Lets everything take the moment that it takes while nothing is wrong. */
export const setSound = (cluster: SimulatedCluster): void => {
  const { site } = cluster
  network(site, { _tag: "Links", from: null, to: null, faults: soundLinks })
  setStreams(site, soundStreams)
  setStore(site, soundStore)
  for (const name of [...cluster.devices, ...diskNodes(cluster)]) {
    disk(site, name, { _tag: "SyncMillis", millis: soundSyncMillis })
  }
}

/** Lets a fault begin. */
export const beginFault = (cluster: SimulatedCluster, fault: Fault): void => {
  const { site } = cluster
  site.trace.add(`fault ${printFault(fault).trim()}`)
  const node = "node" in fault ? cluster.servers.get(fault.node) : undefined
  switch (fault._tag) {
    case "Links": {
      const { delayMillis, duplication, loss, reorder } = fault
      return setLinks(site, fault, { loss, duplication, reorder, delayMillis: [0, delayMillis] })
    }
    case "Isolate":
      return everyPair(cluster, fault.nodes, (from, to) =>
        network(site, { _tag: "Block", from, to })
      )
    case "OneWay":
      return network(site, { _tag: "Block", from: fault.from, to: fault.to })
    case "Kill":
      return node?.killAfter(fault.steps)
    case "PowerCut":
      for (const each of cluster.servers.values()) each.kill()
      return
    case "Stop":
      return node?.stop()
    case "Pause":
      return node?.pause()
    case "Disconnect":
      return network(site, { _tag: "Disconnect", node: fault.node })
    case "ClockJump":
      return node?.setWallClock(fault.millis)
    case "FlipBit":
      return flip(cluster, fault)
    case "DamagedStore":
      return damageStore(cluster, fault)
    case "DiskFull":
      return leaveRoom(site, fault.disk, 64)
    case "TightDisk":
      return leaveRoom(site, fault.disk, fault.bytes)
    case "SlowDisk":
      return disk(site, fault.disk, { _tag: "SyncMillis", millis: fault.millis })
    case "FailWrites":
      return disk(site, fault.disk, { _tag: "FailWrites", count: fault.count })
    case "FailReads":
      return disk(site, fault.disk, { _tag: "FailReads", count: fault.count })
    case "Streams":
      return setStreams(site, fault)
    case "Store":
      return setStore(site, fault)
    case "DamagedJournal":
      return damageJournal(cluster, fault)
    case "DamagedIdentity":
      return damageIdentity(cluster, fault)
    case "Clone":
      return cloneDevice(cluster, fault)
    case "NoHandles":
      site.withoutHandles.add(fault.node)
      return
    case "ShortReads":
      site.shortReading.add(fault.node)
      return
    case "Operator":
      return operate(cluster, fault)
    case "BrokerCut":
      site.cutFromBroker.add(fault.node)
      return
    case "LateWrites":
      return site.keyValue.holdBack({ count: fault.count, millis: fault.delayMillis })
    case "Takeover":
      return ownerOf(cluster, fault.pick)?.pause()
  }
}

/** Ends a fault that lasts; others end by themselves. */
export const endFault = (cluster: SimulatedCluster, fault: Fault): void => {
  const { site } = cluster
  if ("forMillis" in fault) site.trace.add(`over ${printFault(fault).trim()}`)
  const node = "node" in fault ? cluster.servers.get(fault.node) : undefined
  switch (fault._tag) {
    case "Links":
      return setLinks(site, fault, soundLinks)
    case "Isolate":
      return everyPair(cluster, fault.nodes, (from, to) =>
        network(site, { _tag: "Unblock", from, to })
      )
    case "OneWay":
      return network(site, { _tag: "Unblock", from: fault.from, to: fault.to })
    case "Kill":
      // One that took fewer steps than it was given dies now.
      node?.kill()
      return node?.start()
    case "Stop":
    case "DamagedStore":
      return node?.start()
    case "PowerCut":
      for (const each of cluster.servers.values()) each.start()
      return
    case "Pause":
      return node?.resume()
    case "Disconnect":
      return network(site, { _tag: "Reconnect", node: fault.node })
    case "DiskFull":
    case "TightDisk":
      return disk(site, fault.disk, { _tag: "Capacity", bytes: diskBytes })
    case "SlowDisk":
      return disk(site, fault.disk, { _tag: "SyncMillis", millis: soundSyncMillis })
    case "Streams":
      return setStreams(site, soundStreams)
    case "Store":
      return setStore(site, soundStore)
    case "Takeover":
      for (const worker of cluster.workers) worker.resume()
      return
    case "DamagedJournal":
      return mendJournal(cluster)
    case "DamagedIdentity":
      return mendIdentity(cluster, fault.device)
    case "Clone":
      return removeClone(cluster, fault.node)
    case "NoHandles":
      site.withoutHandles.delete(fault.node)
      return
    case "ShortReads":
      site.shortReading.delete(fault.node)
      return
    case "BrokerCut":
      site.cutFromBroker.delete(fault.node)
      return
    case "LateWrites":
      return site.keyValue.holdBack({ count: 0, millis: 0 })
    case "ClockJump":
    case "FlipBit":
    case "FailWrites":
    case "FailReads":
    case "Operator":
      return
  }
}

/** Faults whose end starts nodes. */
const restarting = new Set<Fault["_tag"]>(["Kill", "Stop", "PowerCut", "DamagedStore"])

/** Ends everything that is wrong with the surroundings; nodes are not started. */
export const healAll = (cluster: SimulatedCluster, plan: ReadonlyArray<Fault>): void => {
  const { site } = cluster
  network(site, { _tag: "Heal" })
  for (const node of cluster.servers.values()) {
    node.spare()
    node.setWallClock(0)
  }
  for (const fault of plan) {
    if (restarting.has(fault._tag)) continue
    endFault(cluster, fault)
  }
  for (const name of [...cluster.devices, ...diskNodes(cluster)]) {
    disk(site, name, { _tag: "FailWrites", count: 0 })
    disk(site, name, { _tag: "FailReads", count: 0 })
  }
}
