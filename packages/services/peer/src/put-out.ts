/**
 * Puts out of every partition whom the cluster has ejected.
 *
 * Most partitions are met by a write or a comparison soon; this goes over all of them once after
 * each ejection, and after a start, so that nobody waits for the dead in those that are not.
 */
import type { ClusterState } from "@holdfast/cluster"
import { MAX_KEY, MIN_KEY, PartitionKey } from "@holdfast/keyspace"
import { PartitionStore, type PartitionStoreError } from "@holdfast/storage"
import type { ServiceError } from "@holdfast/wire"
import { Effect, Option } from "effect"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { isCluster } from "./cluster-partition.ts"
import { letOwnersIn } from "./replication-steps.ts"

const PAGE = 256

const ejectedOf = ({ gone }: ClusterState): string =>
  gone
    .filter(({ how }) => how === "ejected")
    .map(({ incarnation, peer }) => `${peer}.${incarnation}`)
    .join(" ")

const goOver = Effect.fnUntraced(function* (
  { engine, ownership }: AntiEntropyContext,
  application: string
): Effect.fn.Return<void, PartitionStoreError | ServiceError, PartitionStore> {
  const store = yield* PartitionStore
  let after = Option.none<string>()
  for (;;) {
    const ranges = [[MIN_KEY, MAX_KEY]] as const
    const page = yield* store.scan({ application, after, ranges, limit: PAGE })
    yield* Effect.forEach(
      page.filter(({ _tag }) => _tag === "Intact"),
      ({ key }) => {
        const address = { application, key: PartitionKey.make(key) }
        return engine.submit(address, letOwnersIn(address, ownership))
      },
      { concurrency: "unbounded", discard: true }
    )
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = Option.some(last.key)
  }
})

/** Makes the task that goes over all partitions when there is somebody new to put out. */
export const makePutOut = (context: AntiEntropyContext) => {
  let done = ""
  return Effect.gen(function* () {
    const ejected = ejectedOf(context.membership.agreed)
    if (ejected === done) return
    for (const application of context.applications.keys()) {
      if (!isCluster(application)) yield* goOver(context, application)
    }
    done = ejected
  })
}
