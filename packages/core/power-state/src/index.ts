/**
 * A replicated, event-folded object that merges in any order and forgets what every participant has
 * acknowledged.
 */
export { acknowledge, acknowledgeAs } from "./acknowledge.ts"
export type { Applied, Application, Fold } from "./application.ts"
export type { EventCommand, EventReply } from "./change.ts"
export { disassociate, event, participate, PENDING_MAX_DEFAULT } from "./change.ts"
export type { Birth } from "./create.ts"
export { create, REQUEST_WINDOW_DEFAULT } from "./create.ts"
export type { Entry, EventEntry, JoinEntry, LeaveEntry, MembershipEntry } from "./entry.ts"
export type { MergeError } from "./errors.ts"
export {
  ConflictingEvent,
  DifferentLineage,
  DifferentOrigins,
  InfimumDigestMismatch,
  LastParticipant,
  NotParticipant,
  PendingLimitReached
} from "./errors.ts"
export { compareEventIds, EventId, formatEventId } from "./event-id.ts"
export type { Violation } from "./invariants.ts"
export { invariants } from "./invariants.ts"
export type { Merged } from "./merge.ts"
export { merge } from "./merge.ts"
export type { Divergent } from "./observe.ts"
export {
  allParticipants,
  divergent,
  hasHeardFrom,
  hasLeft,
  holders,
  infimumId,
  infimumParticipants,
  infimumValue,
  knowsRequest,
  pendingCount,
  pendingEntries,
  projectedParticipants,
  projectedValue,
  stateHash
} from "./observe.ts"
export { Origin } from "./origin.ts"
export {
  compareParticipants,
  formatParticipant,
  Incarnation,
  makeParticipant,
  Participant,
  PeerId,
  sameParticipant
} from "./participant.ts"
export type { Reduced } from "./reduce.ts"
export type { ConsistentOutput, PowerState } from "./state.ts"
export type { StateCodec, ValueCodec } from "./codec.ts"
export { codecOf, decodeState, encodeState, UndecodableState } from "./codec.ts"
export { EncodedState, STATE_FORMAT } from "./encoded-state.ts"
