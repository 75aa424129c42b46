/**
 * Goes over partitions that are here, so that each becomes what the cluster's agreement makes of
 * it: its birth confirmed, the ejected put out, owners let in.
 *
 *     somebody was ejected      ──▶ all partitions
 *     all members have swept    ──▶ those whose birth waits for that
 *     a start                   ──▶ the same: it may have been under way
 *
 * Most partitions are met by a write or a comparison soon; this is for those that are not, so that
 * nobody waits for the dead in them, and nothing stays pending.
 */
import type { ClusterState } from "@holdfast/cluster"
import { isSwept } from "@holdfast/cluster"
import { PartitionKey } from "@holdfast/keyspace"
import type { ServiceError } from "@holdfast/wire"
import { Effect } from "effect"
import type { Address } from "./address.ts"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { isCluster } from "./cluster-partition.ts"
import { letOwnersIn } from "./replication-steps.ts"
import { forEachPage } from "./stored-pages.ts"

const IN_FLIGHT = 256

/** What makes it due to go over partitions. */
interface Reason {
  /** Who was ejected; empty for nobody. */
  readonly ejected: string
  /** Of the last sweep that is done; 0 for none. */
  readonly swept: number
}

const reasonOf = (state: ClusterState, before: Reason): Reason => ({
  ejected: state.gone
    .filter(({ how }) => how === "ejected")
    .map(({ incarnation, peer }) => `${peer}.${incarnation}`)
    .join(" "),
  swept: isSwept(state) ? state.sweep.round : before.swept
})

const goOver = (
  { engine, ownership }: AntiEntropyContext,
  addresses: ReadonlyArray<Address>
): Effect.Effect<void, ServiceError> =>
  Effect.forEach(addresses, (address) => engine.submit(address, letOwnersIn(address, ownership)), {
    concurrency: IN_FLIGHT,
    discard: true
  })

const goOverAll = (context: AntiEntropyContext, application: string) =>
  forEachPage({ application }, (page) =>
    goOver(
      context,
      page
        .filter(({ _tag }) => _tag === "Intact")
        .map(({ key }) => ({ application, key: PartitionKey.make(key) }))
    )
  )

/** Makes the task that goes over partitions when there is a new reason to. */
export const makeGoOver = (context: AntiEntropyContext) => {
  let done: Reason = { ejected: "", swept: 0 }
  return Effect.gen(function* () {
    const { agreed } = context.membership
    const reason = reasonOf(agreed, done)
    if (reason.ejected === done.ejected && reason.swept === done.swept) return
    if (reason.ejected !== done.ejected) {
      for (const application of context.applications.keys()) {
        if (!isCluster(application)) yield* goOverAll(context, application)
      }
    } else {
      yield* goOver(context, [...context.inventory.provisional.values()])
    }
    done = reason
  })
}
