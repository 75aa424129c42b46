/**
 * The checkpoints of the workers, against what is durable when each is stored.
 *
 * | invariant | what must hold |
 * |---|---|
 * | checkpoint-fell | a shard's stored position and epoch never fall |
 * | checkpoint-early | up to it, every record of the stream is in a segment that a majority of its owners hold, whose chunk is committed, and of which an intact copy is on a device |
 * | liveness | once nothing fails, each checkpoint reaches the end of its stream |
 */
import { FACTOR_DEFAULT } from "@holdfast/keyspace"
import { Option } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import type { ChunkHistory } from "./chunk-history.ts"
import { durableSegments, isStored } from "./durable-archive.ts"
import type { Oracle } from "./oracle.ts"

interface Progress {
  position: bigint
  epoch: number
}

/** The first record in (after, upTo] that no durable segment reaches over. */
const firstUncovered = (
  cluster: SimulatedCluster,
  history: ChunkHistory,
  range: { readonly shard: string; readonly after: bigint; readonly upTo: bigint }
): bigint | undefined => {
  const owners = Math.min(FACTOR_DEFAULT, cluster.peers.length)
  const majority = Math.floor(owners / 2) + 1
  const segments = durableSegments(cluster, range.shard)
    .filter(({ peers, segment }) => peers >= majority && segment.last > range.after)
    .filter(({ segment }) => isStored(cluster, history, segment))
  const records = cluster.site.streams.byName.get(range.shard)?.records ?? []
  return records.find(
    ({ position }) =>
      position > range.after &&
      position <= range.upTo &&
      !segments.some(({ segment }) => segment.first <= position && position <= segment.last)
  )?.position
}

/** Judges every checkpoint of the archives. */
export const makeCheckpointOracle = (
  cluster: SimulatedCluster,
  history: ChunkHistory,
  archives: ReadonlyArray<string>
): Oracle => {
  const progress = new Map<string, Progress>()
  const { report, streams } = cluster.site
  return {
    watch: {
      checkpointSaved: (shard, checkpoint) => {
        const { epoch } = checkpoint
        const position = Option.getOrElse(checkpoint.position, () => 0n)
        const before = progress.get(shard) ?? { position: 0n, epoch: 0 }
        if (position < before.position || epoch < before.epoch) {
          const from = `${before.position} of epoch ${before.epoch}`
          report("checkpoint-fell", `${shard}: from ${from} to ${position} of epoch ${epoch}`)
        }
        const range = { shard, after: before.position, upTo: position }
        const uncovered = firstUncovered(cluster, history, range)
        if (uncovered !== undefined) {
          report("checkpoint-early", `${shard}: at ${position}, record ${uncovered} is not durable`)
        }
        progress.set(shard, { position, epoch })
      }
    },
    unsettled: () =>
      archives.flatMap((shard) => {
        const last = (streams.byName.get(shard)?.next ?? 1n) - 1n
        const position = progress.get(shard)?.position ?? 0n
        return position === last ? [] : [`the checkpoint of ${shard} is ${position} of ${last}`]
      })
  }
}
