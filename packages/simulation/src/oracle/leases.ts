/**
 * Which worker runs which shard.
 *
 * | invariant | what must hold |
 * |---|---|
 * | lease-shared | no two workers that run hold one shard at once |
 * | epoch-shared | no epoch of a shard is ever held by two |
 */
import { Effect } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import type { Oracle } from "./oracle.ts"

/** Two workers may be seen at one instant before the paused one has looked at its clock. */
const looksMax = 2

/** Judges what the workers hold. */
export const makeLeaseOracle = (cluster: SimulatedCluster): Oracle => {
  const ownerOf = new Map<string, string>()
  const sharedLooks = new Map<string, number>()
  const { report } = cluster.site
  return {
    step: () => {
      const holders = new Map<string, Array<string>>()
      for (const worker of cluster.workers) {
        if (worker.service === undefined || worker.isPaused) continue
        for (const { epoch, shard } of Effect.runSync(worker.service.status).shards) {
          holders.set(shard, [...(holders.get(shard) ?? []), worker.name])
          const held = `epoch ${epoch} of ${shard}`
          const known = ownerOf.get(held) ?? worker.life
          if (known !== worker.life) {
            report("epoch-shared", `${held} is held by ${known} and by ${worker.life}`)
          }
          ownerOf.set(held, known)
        }
      }
      for (const [shard, names] of holders) {
        const looks = names.length > 1 ? (sharedLooks.get(shard) ?? 0) + 1 : 0
        sharedLooks.set(shard, looks)
        if (looks >= looksMax) report("lease-shared", `${shard} is held by ${names.join(" and ")}`)
      }
    }
  }
}
