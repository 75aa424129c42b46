/** What an archive durably holds, read past every service: catalogue stores, journal, devices. */
import { type DurableCopy, durablePartitions } from "@holdfast/adapter-memory"
import { catalogueName, CatalogueState, type SegmentEntry } from "@holdfast/catalogue"
import type { HostedApplication } from "@holdfast/service-peer"
import { Option, Result, Schema } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { applications } from "../cluster/nodes.ts"
import { type ChunkHistory, copiesOf } from "./chunk-history.ts"

/** A segment, and how many peers hold its entry durably. */
export interface DurableSegment {
  readonly segment: SegmentEntry
  readonly peers: number
}

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

/** The segments of an archive in the stores of the peers. */
export const durableSegments = (
  cluster: SimulatedCluster,
  archive: string
): ReadonlyArray<DurableSegment> => {
  const byKey = new Map<string, DurableSegment>()
  for (const { name } of cluster.peers) {
    const cells = cluster.site.disk(name).cells("partitions")
    for (const { application, key, state } of durablePartitions(cells)) {
      if (application !== catalogueName) continue
      const segment = readSegment(state)
      if (segment === null || segment.archive !== archive) continue
      byKey.set(key, { segment, peers: (byKey.get(key)?.peers ?? 0) + 1 })
    }
  }
  return [...byKey.values()]
}

/** Whether a segment's bytes are committed and an intact copy of them is on a device. */
export const isStored = (
  cluster: SimulatedCluster,
  history: ChunkHistory,
  { chunk }: SegmentEntry
): boolean =>
  history
    .current()
    .some(
      ({ chunkId, fileId, version }) =>
        chunkId === chunk.chunkId && fileId === chunk.fileId && version === chunk.version
    ) && copiesOf(cluster, chunk).some(({ isIntact }: DurableCopy) => isIntact)
