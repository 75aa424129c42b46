/** What an archive durably holds, read past every service: catalogue stores, journal, devices. */
import { durableBytes, durablePartitions } from "@holdfast/adapter-memory"
import { catalogueName, CatalogueState, type SegmentEntry } from "@holdfast/catalogue"
import { segmentReading } from "@holdfast/client"
import { FACTOR_DEFAULT } from "@holdfast/keyspace"
import { decodeSegment } from "@holdfast/segment"
import type { HostedApplication } from "@holdfast/service-peer"
import { Option, Result, Schema } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { applications, directoryOf } from "../cluster/nodes.ts"
import type { ChunkHistory } from "./chunk-history.ts"
import type { FinishedParts } from "./checkpoints.ts"

const decodeState = Schema.decodeUnknownOption(Schema.toCodecJson(CatalogueState))

const catalogue = (): HostedApplication => {
  const found = applications.find(({ name }) => name === catalogueName)
  if (found === undefined) throw new Error("the peers host no catalogue")
  return found
}

/** Stored bytes never change, so that each is decoded once. */
const decoded = new WeakMap<Uint8Array, SegmentEntry | null>()

const readSegment = (state: Uint8Array): SegmentEntry | null => {
  const known = decoded.get(state)
  if (known !== undefined) return known
  const replica = catalogue().decode(state)
  const entry = Result.isSuccess(replica)
    ? decodeState(replica.success.projected())
    : Option.none<CatalogueState>()
  const segment =
    Option.isSome(entry) && entry.value._tag === "Segment" ? entry.value.segment : null
  decoded.set(state, segment)
  return segment
}

const segmentsOn = (
  cluster: SimulatedCluster,
  peer: string,
  archive: string
): ReadonlyArray<SegmentEntry> =>
  durablePartitions(cluster.site.disk(peer).cells("partitions")).flatMap(
    ({ application, state }) => {
      const segment = application === catalogueName ? readSegment(state) : null
      return segment === null || segment.archive !== archive ? [] : [segment]
    }
  )

const keyOf = (position: bigint, part: number): string => `${position}/${part}`

/** Versions are never used twice, so that each is decoded once. */
type Contents = Map<string, ReadonlyArray<string>>

/** What a segment holds: position and part of each record; none when no intact copy is there. */
const contentsOf = (
  cluster: SimulatedCluster,
  known: Contents,
  { chunk }: SegmentEntry
): ReadonlyArray<string> => {
  const stored = cluster.devices.map((device) =>
    durableBytes(cluster.site.disk(device).cells(directoryOf(device)), chunk)
  )
  const bytes = stored.find((copy) => copy !== undefined)
  if (bytes === undefined) return []
  const name = `${chunk.fileId}/${chunk.chunkId}/${chunk.version}`
  const before = known.get(name)
  if (before !== undefined) return before
  const decoded = decodeSegment(bytes, segmentReading)
  const records = Result.isSuccess(decoded) ? decoded.success.records : []
  const keys = records.map(({ part, position }) => keyOf(position, part))
  known.set(name, keys)
  return keys
}

/**
 * What is durable of an archive: records of segments that a majority of peers know, whose chunk is
 * committed, and of which an intact copy is on a device.
 */
export const durableRecords = (
  cluster: SimulatedCluster,
  history: ChunkHistory
): ((archive: string, after: bigint) => FinishedParts) => {
  const known: Contents = new Map()
  const owners = Math.min(FACTOR_DEFAULT, cluster.peers.length)
  const majority = Math.floor(owners / 2) + 1
  return (archive, after) => {
    const committed = new Set(
      history.current().map((chunk) => `${chunk.fileId}/${chunk.chunkId}/${chunk.version}`)
    )
    const isCommitted = ({ chunkId, fileId, version }: SegmentEntry["chunk"]): boolean =>
      committed.has(`${fileId}/${chunkId}/${version}`)
    const peersOf = new Map<string, number>()
    for (const { name } of cluster.peers) {
      const held = segmentsOn(cluster, name, archive)
        .filter(({ chunk, last }) => last > after && isCommitted(chunk))
        .flatMap((segment) => contentsOf(cluster, known, segment))
      for (const key of new Set(held)) peersOf.set(key, (peersOf.get(key) ?? 0) + 1)
    }
    return (position, part) => (peersOf.get(keyOf(position, part)) ?? 0) >= majority
  }
}
