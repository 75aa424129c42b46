/**
 * Replicas without their types: what the peer needs of a partition, whatever its application.
 *
 * 1. A replica never changes; each step gives a new one, or the same if nothing is new.
 * 2. One entry of the power state is one request with all its events: it counts whole and once.
 * 3. Events, outputs and values cross this boundary as JSON of the application's schemas.
 */
import type {
  AdoptError,
  DiffError,
  Divergent,
  EjectError,
  EventId,
  ForceCommand,
  ForceError,
  JoinError,
  LastParticipant,
  MergeError,
  NotParticipant,
  Participant,
  PendingLimitReached,
  Report,
  SenderRefused,
  UndecodableState,
  Violation
} from "@holdfast/power-state"
import type { PeerOperations } from "@holdfast/wire"
import { Data, type Result } from "effect"

/** Events that are not of the application's schema. */
export class InvalidEvent extends Data.TaggedError("InvalidEvent")<{ readonly message: string }> {}

/** A request to apply events. */
export interface ApplyCommand {
  readonly issuer: Participant
  readonly events: ReadonlyArray<unknown>
  readonly request: string
  readonly pendingMax: number
}

/** The answer to a request. */
export interface ApplyReply {
  readonly replica: Replica
  readonly outputs: ReadonlyArray<unknown>
  /** Null when the request was folded before. */
  readonly id: EventId | null
}

/** A state on its way from one participant to another. */
export interface Delivery {
  readonly from: Participant
  readonly to: Participant
  readonly state: Replica
}

/** A replica after it heard another. */
export interface HearReply {
  readonly replica: Replica
  /** Requests that it held until now and that cannot count any more: to be submitted again. */
  readonly dropped: ReadonlyArray<PendingRequest>
}

/** A request whose entry is pending: its events, as JSON of the application's schema. */
export interface PendingRequest {
  readonly request: string | null
  readonly events: ReadonlyArray<unknown>
}

/** One version of a partition's replica. */
export interface Replica {
  readonly apply: (
    command: ApplyCommand
  ) => Result.Result<ApplyReply, InvalidEvent | NotParticipant | PendingLimitReached>
  /** What comes from one whose word counts; others are refused. */
  readonly hear: (delivery: Delivery) => Result.Result<HearReply, MergeError | SenderRefused>
  /** What is told of it, so that others can send diffs. */
  readonly report: () => Report
  /** What the one who told this lacks, as it is sent; null where only the full state will do. */
  readonly diff: (receiver: Report) => Uint8Array | null
  /** The sender's state, made again out of this one and a diff. */
  readonly receive: (diff: Uint8Array) => Result.Result<Replica, DiffError | UndecodableState>
  /** All that two replicas know, whoever had them: for what is put together again. */
  readonly merge: (other: Replica) => Result.Result<Replica, MergeError>
  readonly acknowledge: (participant: Participant) => Result.Result<Replica, NotParticipant>
  readonly participate: (options: {
    readonly issuer: Participant
    readonly participant: Participant
  }) => Result.Result<Replica, JoinError>
  /** The participant's last word; it stays until all others have acknowledged it. */
  readonly leave: (
    participant: Participant
  ) => Result.Result<Replica, NotParticipant | LastParticipant>
  /** Puts a participant out; the cluster must have agreed on it. */
  readonly eject: (options: {
    readonly issuer: Participant
    readonly participant: Participant
  }) => Result.Result<Replica, EjectError>
  /** Puts participants out without the authority to, in a lineage that the others go over to. */
  readonly forceEject: (command: ForceCommand) => Result.Result<Replica, ForceError>
  /** Goes over to the lineage of another replica, which an operator forced. */
  readonly adopt: (other: Replica) => Result.Result<HearReply, AdoptError>
  readonly lineage: () => number
  /** Whether it is known here that a participant is put out. */
  readonly isEjected: (participant: Participant) => boolean
  /** Whether it is decided which entries of one who is put out count. */
  readonly isDecided: (ejected: Participant) => boolean
  /** Equal digests: the same knowledge. */
  readonly digest: () => string
  /** The stored form; made once for each version. */
  readonly bytes: () => Uint8Array
  readonly tags: () => ReadonlyArray<Uint8Array>
  readonly participants: () => ReadonlyArray<Participant>
  /** Those who must still hear of it: also who joins, and who has said that he leaves. */
  readonly everybody: () => ReadonlyArray<Participant>
  /** Whether anything here was issued or acknowledged by the participant. */
  readonly hasHeardFrom: (participant: Participant) => boolean
  readonly divergent: () => ReadonlyArray<Divergent>
  readonly holders: (id: EventId) => ReadonlyArray<Participant>
  readonly pending: () => number
  /** The requests that are pending, in their order. */
  readonly pendingRequests: () => ReadonlyArray<PendingRequest>
  /** The entries that are pending, oldest first, as people are told of them. */
  readonly history: () => ReadonlyArray<PeerOperations.HistoryEntry>
  /** Whether a request is among those that are remembered. */
  readonly knowsRequest: (request: string) => boolean
  /** The epoch that it was born under. */
  readonly birthEpoch: () => number
  /** Whether it may have been born under another epoch too; it folds nothing while it may. */
  readonly isProvisional: () => boolean
  /** Whether anything was acknowledged by all since it was born. */
  readonly hasFolded: () => boolean
  /** It is known at the participant's replica that this birth is the one that counts. */
  readonly confirm: (participant: Participant) => Replica
  readonly projected: () => unknown
  readonly infimum: () => unknown
  readonly invariants: () => ReadonlyArray<Violation>
}

/** Where a partition is born: equal for all who create it by the same distribution. */
export interface ReplicaBirth {
  readonly key: string
  readonly epoch: number
  readonly participants: ReadonlyArray<Participant>
  /** Whether it may have been born under another epoch too; not, unless told otherwise. */
  readonly isProvisional?: boolean
}

/** An application as the peer hosts it. */
export interface HostedApplication {
  readonly name: string
  readonly version: number
  readonly create: (birth: ReplicaBirth) => Replica
  readonly decode: (stored: Uint8Array) => Result.Result<Replica, UndecodableState>
}
