/**
 * What sources are told, against the checkpoints in the store.
 *
 * | invariant | what must hold |
 * |---|---|
 * | acknowledged-early | a source is told of nothing that the checkpoint in the store has not passed |
 * | liveness | once nothing fails, nothing that a consumer delivered waits for its acknowledgement |
 */
import { Option } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import type { Oracle } from "./oracle.ts"

/** Judges what is acknowledged. */
export const makeAcknowledgementOracle = (cluster: SimulatedCluster): Oracle => {
  const stored = new Map<string, bigint>()
  const { report, streams, watermarks } = cluster.site
  return {
    watch: {
      checkpointSaved: (shard, { position }) => {
        stored.set(
          shard,
          Option.getOrElse(position, () => 0n)
        )
      },
      recordsAcknowledged: (shard, upTo) => {
        const position = stored.get(shard) ?? 0n
        if (upTo <= position) return
        report("acknowledged-early", `${shard}: ${upTo}, and the checkpoint is ${position}`)
      }
    },
    unsettled: () =>
      [...watermarks.keys()].flatMap((shard) => {
        const pending = streams.byName.get(shard)?.consumer.pending ?? 0
        return pending === 0 ? [] : [`${pending} deliveries of ${shard} are unacknowledged`]
      })
  }
}
