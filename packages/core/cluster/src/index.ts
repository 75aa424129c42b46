/** What the members of a cluster agree on: who belongs to it, who owns which keys, what moves. */
export type { ClusterApplication } from "./application.ts"
export { clusterName, makeClusterApplication } from "./application.ts"
export { activeMembers, applyEvent } from "./apply.ts"
export type { Applied } from "./cluster-event.ts"
export { ClusterEvent, ClusterOutput, RefusalReason } from "./cluster-event.ts"
export { ClusterState, foundCluster, Step, Sweep } from "./cluster-state.ts"
export type { Violation } from "./invariants.ts"
export { invariants } from "./invariants.ts"
export {
  Capacity,
  ClusterMember,
  formatLife,
  GoneMember,
  Incarnation,
  Life,
  MemberPhase,
  NAMES_MAX
} from "./member.ts"
export { nextPlan } from "./next-plan.ts"
export {
  endOf,
  gainersOf,
  gainsOf,
  holdersOf,
  isMember,
  isSwept,
  keysHeldBy,
  mayGo,
  memberOf,
  nextIncarnation,
  ownerLife
} from "./ownership.ts"
