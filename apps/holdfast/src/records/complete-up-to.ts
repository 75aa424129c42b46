/**
 * Up to where an archive that is still written to holds everything: the checkpoints of its workers.
 *
 * Segments are stored several at a time, so that for a moment a later one is there and an earlier
 * one is not. Whoever goes by positions and does not come back must stop below that.
 */
import type { ArchiveEntry } from "@holdfast/catalogue"
import type { ArchiveTotals } from "@holdfast/client"
import type { Messaging } from "@holdfast/messaging"
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect, Result } from "effect"
import { workersOf, type WorkerStatusView } from "../connection/observe.ts"
import { sayLine } from "../output/progress.ts"

type ShardStatus = WorkerStatusView["shards"][number]

const looksMax = 60
const betweenLooks = "500 millis"

/** What is known of the shards of an archive: nothing where no worker answers. */
const shardsNow = (cluster: string) =>
  Effect.map(Effect.result(workersOf(cluster)), (workers) =>
    Result.isSuccess(workers) ? workers.success.flatMap(({ shards }) => shards) : []
  )

/**
 * The last position of each shard up to which nothing can be added any more; waits half a minute
 * for workers to get there. A shard that no worker has is as complete as it will be for now.
 */
export const completeUpTo = Effect.fnUntraced(function* (options: {
  readonly cluster: string
  readonly archive: ArchiveEntry
  readonly totals: ArchiveTotals
}): Effect.fn.Return<ReadonlyMap<string, bigint>, CommandFailure, Messaging> {
  const { archive, cluster, totals } = options
  const bounds = new Map<string, bigint>()
  if (archive.status !== "active") return bounds
  for (let look = 1; ; look++) {
    const statuses = yield* shardsNow(cluster)
    const open = totals.shards.flatMap(({ last, shard }) => {
      const status = statuses.find((one) => one.shard === shard)
      return status === undefined || isComplete(status, last) ? [] : [{ shard, status }]
    })
    const isOver = look === looksMax || open.every(({ status }) => status.state === "halted")
    if (!isOver) {
      yield* Effect.sleep(betweenLooks)
      continue
    }
    for (const { shard, status } of open) {
      if (status.checkpoint === undefined) {
        return yield* failure(
          `nothing of ${shard} is archived completely yet; try again in a while`
        )
      }
      bounds.set(shard, status.checkpoint)
      yield* sayLine(
        `${shard} is complete up to position ${status.checkpoint}; what is newer is left for another run`
      )
    }
    return bounds
  }
})

const isComplete = ({ checkpoint }: ShardStatus, last: bigint): boolean =>
  checkpoint !== undefined && checkpoint >= last
