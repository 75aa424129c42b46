/**
 * What the workers hold, against their limits.
 *
 * | invariant | what must hold |
 * |---|---|
 * | over-limits | what a shard has in flight is within its limits, whatever fails |
 *
 * A record that is alone may be over the limits on bytes and items. Items that are learned after a
 * record was admitted are not refused any more: so many a record may be over.
 */
import type { Limits } from "@holdfast/disposition"
import type { WorkerOperations } from "@holdfast/wire"
import { Effect } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import type { Oracle } from "./oracle.ts"

/** The limits of a shard, and how many items of a record may be learned late. */
export type JudgedLimits = Omit<Limits, "partsPerRecord"> & { readonly learnedItems: number }

const passed = (
  { finishedAboveGap, inFlight }: WorkerOperations.ShardStatus,
  limits: JudgedLimits
): ReadonlyArray<string> => {
  const { bytes, items, records } = inFlight
  const isAlone = records === 1
  const figures = [
    ["records", records, limits.records],
    ["records of its span", records + finishedAboveGap, limits.span],
    ["items", isAlone ? 0 : items, limits.items + records * limits.learnedItems],
    ["bytes", isAlone ? 0 : bytes, limits.bytes]
  ] as const
  return figures
    .filter(([, held, limit]) => held > limit)
    .map(([what, held, limit]) => `${held} ${what}, the limit is ${limit}`)
}

/** Judges what is in flight. */
export const makeInFlightOracle = (cluster: SimulatedCluster, limits: JudgedLimits): Oracle => ({
  step: () => {
    for (const { isPaused, name, service } of cluster.workers) {
      if (service === undefined || isPaused) continue
      for (const shard of Effect.runSync(service.status).shards) {
        for (const what of passed(shard, limits)) {
          cluster.site.report("over-limits", `${name} holds of ${shard.shard} ${what}`)
        }
      }
    }
  }
})
