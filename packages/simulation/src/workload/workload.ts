/** What a workload is: programs that use the cluster while it fails, and what they must find. */
import type { Context, Effect } from "effect"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import type { ClientServices } from "../cluster/nodes.ts"
import type { ChunkHistory } from "../oracle/chunk-history.ts"
import type { Oracle } from "../oracle/oracle.ts"
import type { RandomSource } from "../random-source.ts"

/** What a workload is made from. */
export interface WorkloadOptions {
  readonly cluster: SimulatedCluster
  readonly history: ChunkHistory
  readonly random: RandomSource
  /** How long it goes on. */
  readonly phaseMillis: number
}

/** A workload. */
export interface Workload {
  /** Before the first fault. */
  readonly prepare: Effect.Effect<void, unknown, ClientServices>
  /** One program for each client; none of them fails because of a fault. */
  readonly programs: ReadonlyArray<Effect.Effect<void, unknown, ClientServices>>
  readonly oracles: ReadonlyArray<Oracle>
  /** The judgement that asks the cluster itself, after everything has settled. */
  readonly audit: Effect.Effect<void, unknown, ClientServices>
}

/** Makes a workload. */
export type MakeWorkload = (options: WorkloadOptions) => Workload

/** The services of a client. */
export type ClientContext = Context.Context<ClientServices>
