/** The cluster as an application: its state is folded from events, as a partition's is. */
import { Schema } from "effect"
import { applyEvent } from "./apply.ts"
import { type Applied, ClusterEvent, ClusterOutput } from "./cluster-event.ts"
import { ClusterState } from "./cluster-state.ts"

/** The name of the application. */
export const clusterName = "cluster"

/** The cluster's application; `initial` is the state that it was founded with. */
export interface ClusterApplication {
  readonly name: typeof clusterName
  readonly version: 1
  readonly Event: Schema.Codec<ClusterEvent, unknown>
  readonly Output: Schema.Codec<ClusterOutput, unknown>
  readonly State: Schema.Codec<ClusterState, unknown>
  readonly initial: ClusterState
  readonly apply: (event: ClusterEvent, state: ClusterState) => Applied
  readonly index: (state: ClusterState) => ReadonlyArray<Uint8Array>
}

/** Makes the application of a cluster; it has no tags. */
export const makeClusterApplication = (initial: ClusterState): ClusterApplication => ({
  name: clusterName,
  version: 1,
  Event: ClusterEvent,
  Output: ClusterOutput,
  State: ClusterState,
  initial,
  apply: applyEvent,
  index: () => []
})
