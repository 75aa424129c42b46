/** 256-bit partition keys, key sets, the distribution of keys over peers, routes, service sets. */
export { KeyTextRefused, MembersRefused, NoOwner } from "./errors.ts"
export {
  KEY_SPACE_SIZE,
  keyFromBigInt,
  keyFromBytes,
  keyFromHash,
  keyFromHex,
  keyRotation,
  keyToBigInt,
  keyToBytes,
  MAX_KEY,
  MIN_KEY,
  nextKey,
  PartitionKey,
  previousKey
} from "./partition-key.ts"
export type { Sha256 } from "./partition-key.ts"
export { KeySet, KeySetSchema } from "./key-set.ts"
export type { KeyRange } from "./key-set.ts"
export { FACTOR_DEFAULT, FACTOR_MAX, Member, MEMBERS_MAX, PeerId, WEIGHT_MAX } from "./member.ts"
export {
  distribute,
  Distribution,
  invariants,
  keysOwnedBy,
  loadOfPeers,
  ownersOf,
  Segment,
  segmentOf
} from "./distribution.ts"
export type { Violation } from "./distribution.ts"
export { route } from "./route.ts"
export { nextReplica, serviceSet } from "./service-set.ts"
export type { Assignment, ServiceSet, ServiceSetOptions } from "./service-set.ts"
export { movedKeys, movements } from "./movement.ts"
export type { Movement } from "./movement.ts"
export { rebalance } from "./rebalance.ts"
