/** What the peer refuses, in the envelope that every operation answers with. */
import type {
  AdoptError,
  EjectError,
  ForceError,
  JoinError,
  LastParticipant,
  MergeError,
  NotParticipant,
  PendingLimitReached,
  SenderRefused,
  UndecodableState
} from "@holdfast/power-state"
import type { PartitionStoreError } from "@holdfast/storage"
import { ServiceError } from "@holdfast/wire"
import type { InvalidEvent } from "./replica.ts"

/** What a change of who takes part may be refused with. */
export type MembershipRefusal =
  | AdoptError
  | EjectError
  | ForceError
  | JoinError
  | LastParticipant
  | NotParticipant

/** What a step on a partition may be refused with by the rules. */
export type RuleRefusal =
  | InvalidEvent
  | MembershipRefusal
  | MergeError
  | PendingLimitReached
  | SenderRefused
  | UndecodableState

const codeOf = (refusal: RuleRefusal): string => {
  switch (refusal._tag) {
    case "InvalidEvent":
      return "invalid-event"
    case "DifferentOrigins":
      return "different-origins"
    case "DifferentLineage":
      return "different-lineage"
    case "ConflictingEvent":
      return "conflicting-event"
    case "InfimumDigestMismatch":
      return "infimum-mismatch"
    case "LastParticipant":
      return "last-participant"
    case "NotParticipant":
      return "not-an-owner"
    case "EjectedParticipant":
      return "ejected"
    case "StillLeaving":
      return "still-leaving"
    case "SenderRefused":
      return "sender-refused"
    case "AuthorityMissing":
      return "no-majority"
    case "LineageNotHigher":
      return "different-lineage"
    case "HistoryNotContained":
      return "history-not-contained"
    case "SelfEjection":
      return "self-ejection"
    case "PendingLimitReached":
      return "pending-full"
    case "UndecodableState":
      return "undecodable"
  }
}

/** The envelope of a refusal by the rules. */
export const refusalOf = (refusal: RuleRefusal): ServiceError => {
  const { message } = refusal
  return refusal._tag === "PendingLimitReached"
    ? new ServiceError({ code: "pending-full", message, retryAfterMs: 1_000 })
    : new ServiceError({ code: codeOf(refusal), message })
}

/** The envelope of a store's failure. */
export const storageRefusal = ({ code, message }: PartitionStoreError): ServiceError => {
  switch (code) {
    case "full":
      return new ServiceError({ code: "storage-full", message, retryAfterMs: 10_000 })
    case "unavailable":
    case "locked":
      return new ServiceError({ code: "storage-unavailable", message, retryAfterMs: 1_000 })
    case "corrupt":
    case "too-large":
      return new ServiceError({ code: `storage-${code}`, message })
  }
}

/** A job that threw: its event or the application is at fault, not the partition. */
export const jobFailed = (cause: unknown): ServiceError =>
  new ServiceError({ code: "internal", message: `the job failed: ${String(cause)}` })

/** Too much is waiting. */
export const overloaded = (what: string): ServiceError =>
  new ServiceError({ code: "overloaded", message: `${what}; try again`, retryAfterMs: 100 })

/** A diff does not lead from what is here to what its sender has. */
export const fullStateNeeded = (why: string): ServiceError =>
  new ServiceError({ code: FULL_STATE_NEEDED, message: `${why}; send the full state` })

/** The code of that refusal. */
export const FULL_STATE_NEEDED = "full-state-needed"

/** The application is not hosted here. */
export const noSuchApplication = (name: string): ServiceError =>
  new ServiceError({
    code: "no-such-application",
    message: `no application ${name} is hosted here`
  })

/** The stored partition is damaged and not yet fetched again. */
export const damagedPartition = (key: string): ServiceError =>
  new ServiceError({
    code: "damaged",
    message: `the stored partition ${key} is damaged and waits to be fetched from its replicas`,
    retryAfterMs: 1_000
  })
