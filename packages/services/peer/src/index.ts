/** The peer: partitions, their propagation, requests, index and search. */
export type { Address } from "./address.ts"
export {
  type ApplicationModule,
  ApplicationModuleError,
  applicationOf,
  defineApplication
} from "./application-module.ts"
export { agreedState, hostCluster } from "./cluster-partition.ts"
export { StartRefused } from "./identity.ts"
export type { Identity } from "./identity.ts"
export { Peer, startPeer } from "./peer.ts"
export type { PeerParts, PeerStartError } from "./peer.ts"
export { hostApplication } from "./host-application.ts"
export type { HostedApplication, Replica } from "./replica.ts"
export { peerLimitsDefault, peerTimesDefault } from "./settings.ts"
export type { PeerLimits, PeerOptions, PeerTimes, StartMode } from "./settings.ts"
export type { Application } from "@holdfast/power-state"
