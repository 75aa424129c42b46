/** What a Holdfast process needs around its service. */
export {
  clusterFlag,
  dataFlag,
  jsonFlag,
  keyFileFlag,
  type NatsAccess,
  natsAccessFlags,
  natsFlag,
  natsOptionsOf,
  numberFlag,
  serviceFlags,
  timeFlag
} from "./cluster-flags.ts"
export { macWith } from "./cluster-key.ts"
export { CommandFailure, failure, sentenceOf, sentenceOfCause } from "./command-failure.ts"
export {
  addClusterKey,
  type ClusterKey,
  clusterKeysMax,
  createClusterKey,
  fingerprintOf,
  promoteClusterKey,
  readClusterKeys,
  retireClusterKeys
} from "./key-file.ts"
export { keyFileReadEvery, openKeyRing } from "./key-ring.ts"
export { natsConnections } from "./nats-connections.ts"
export { sayReady, serveLayer } from "./ready.ts"
export { runProcess } from "./run-process.ts"
