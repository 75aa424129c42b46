/**
 * A replicated, event-folded object that merges in any order and forgets what every participant has
 * acknowledged.
 */
export { acknowledge, acknowledgeAs } from "./acknowledge.ts"
export type { Applied, Application, Fold } from "./application.ts"
export type { EventCommand, EventReply, JoinError } from "./change.ts"
export { disassociate, event, participate, PENDING_MAX_DEFAULT } from "./change.ts"
export type { Diff, Known, Mark, Report } from "./diff.ts"
export { diff, report } from "./diff.ts"
export type { EjectError } from "./eject.ts"
export { eject } from "./eject.ts"
export type { Birth } from "./create.ts"
export { confirm } from "./confirm.ts"
export { create, REQUEST_WINDOW_DEFAULT } from "./create.ts"
export type { Delivery } from "./hear.ts"
export { hear } from "./hear.ts"
export type {
  EjectEntry,
  Entry,
  EventEntry,
  JoinEntry,
  LeaveEntry,
  MembershipEntry
} from "./entry.ts"
export type { MergeError } from "./errors.ts"
export {
  AuthorityMissing,
  ConflictingEvent,
  DifferentLineage,
  DifferentOrigins,
  DiffTooNew,
  DiffTooSparse,
  EjectedParticipant,
  FullStateNeeded,
  HistoryNotContained,
  InfimumDigestMismatch,
  LastParticipant,
  LineageNotHigher,
  NotParticipant,
  PendingLimitReached,
  SelfEjection,
  SenderRefused,
  StillLeaving
} from "./errors.ts"
export type { Adopted, AdoptError, ForceCommand, ForceError } from "./force.ts"
export { adopt, forceEject } from "./force.ts"
export { compareEventIds, EventId, formatEventId } from "./event-id.ts"
export type { Violation } from "./invariants.ts"
export { invariants } from "./invariants.ts"
export type { DiffError } from "./merge-diff.ts"
export { mergeDiff, receive } from "./merge-diff.ts"
export type { Merged } from "./merge.ts"
export { merge } from "./merge.ts"
export type { Divergent } from "./observe.ts"
export {
  allParticipants,
  divergent,
  hasHeardFrom,
  ejectionMark,
  hasLeft,
  holders,
  infimumId,
  infimumParticipants,
  infimumValue,
  knowsRequest,
  isEjected,
  isProvisional,
  pendingCount,
  pendingEntries,
  projectedParticipants,
  projectedValue,
  stateHash,
  undecidedEjections
} from "./observe.ts"
export { Origin } from "./origin.ts"
export {
  compareParticipants,
  formatParticipant,
  includesParticipant,
  Incarnation,
  makeParticipant,
  Participant,
  PeerId,
  sameParticipant
} from "./participant.ts"
export type { Reduced } from "./reduce.ts"
export type { Authority, ConsistentOutput, PowerState } from "./state.ts"
export type { StateCodec, ValueCodec } from "./codec.ts"
export { codecOf, decodeState, encodeState, UndecodableState } from "./codec.ts"
export { decodeDiff, encodeDiff } from "./diff-codec.ts"
export { DIFF_FORMAT, EncodedDiff } from "./encoded-diff.ts"
export { EncodedState, STATE_FORMAT } from "./encoded-state.ts"
