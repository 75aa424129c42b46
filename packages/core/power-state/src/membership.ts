/**
 * Who takes part: by the infimum, and by the joins, leaves and ejections that are pending.
 *
 * An ejection counts for this from the moment it is known, wherever it stands in the order: nobody
 * writes, is waited for or is let in again who is known to be ejected.
 */
import type { MembershipEntry } from "./entry.ts"
import type { Participant } from "./participant.ts"
import { sameParticipant, sortParticipants } from "./participant.ts"
import type { Infimum, Member, Seal } from "./state.ts"

/** Whether a participant of the infimum. */
export const isMember = (members: ReadonlyArray<Member>, participant: Participant): boolean =>
  members.some((member) => sameParticipant(member.participant, participant))

/** Whether a Leave of this participant is pending. */
export const isLeaving = (
  membership: ReadonlyArray<MembershipEntry>,
  participant: Participant
): boolean =>
  membership.some((entry) => entry._tag === "Leave" && sameParticipant(entry.issuer, participant))

/** Whether an ejection of this participant is pending. */
export const isEjecting = (
  membership: ReadonlyArray<MembershipEntry>,
  participant: Participant
): boolean =>
  membership.some(
    (entry) => entry._tag === "Eject" && sameParticipant(entry.participant, participant)
  )

/** Whether the infimum has this participant as one who was ejected. */
export const isEjectedMember = (
  infimum: Pick<Infimum<unknown>, "departed">,
  participant: Participant
): boolean =>
  infimum.departed.some(
    (each) => each.reason === "ejected" && sameParticipant(each.participant, participant)
  )

/** What of a state says who takes part. */
export interface MembershipView {
  readonly infimum: Infimum<unknown>
  readonly membership: ReadonlyArray<MembershipEntry>
  readonly seals: ReadonlyArray<Seal>
}

/** The mark of one whose ejection is decided, folded or not; undefined of anyone else. */
export const markOf = (
  { infimum, seals }: Pick<MembershipView, "infimum" | "seals">,
  participant: Participant
): number | undefined => {
  const isHe = (each: Seal) => sameParticipant(each.participant, participant)
  return (
    seals.find(isHe) ?? infimum.departed.find((each) => each.reason === "ejected" && isHe(each))
  )?.mark
}

/** Whether this participant is known to be ejected, decided or not. */
export const isKnownEjected = (view: MembershipView, participant: Participant): boolean =>
  isEjecting(view.membership, participant) || markOf(view, participant) !== undefined

/** The ordinal of the last folded Leave of a participant, 0 for none. */
export const leftAt = (infimum: Infimum<unknown>, participant: Participant): number =>
  infimum.departed.find((each) => sameParticipant(each.participant, participant))?.mark ?? 0

/** Whether a participant after all pending joins, leaves and ejections. */
export const isProjectedParticipant = (view: MembershipView, participant: Participant): boolean => {
  let isIn = isMember(view.infimum.members, participant)
  if (view.membership.length === 0) return isIn
  let left = leftAt(view.infimum, participant)
  for (const entry of view.membership) {
    if (entry._tag === "Join" && sameParticipant(entry.participant, participant)) {
      isIn ||= entry.after === left
    } else if (entry._tag === "Leave" && sameParticipant(entry.issuer, participant)) {
      isIn = false
      left = entry.ordinal
    }
  }
  return isIn && !isKnownEjected(view, participant)
}

/** The participants after all pending joins, leaves and ejections, sorted. */
export const projectedMembers = (view: MembershipView): ReadonlyArray<Participant> =>
  everybody(view.infimum, view.membership).filter((each) => isProjectedParticipant(view, each))

/**
 * Whoever is in the infimum or joins, also if he leaves or is ejected: all who must still hear.
 * Sorted.
 */
export const everybody = (
  infimum: Infimum<unknown>,
  membership: ReadonlyArray<MembershipEntry>
): ReadonlyArray<Participant> => {
  const members = infimum.members.map((member) => member.participant)
  if (membership.length === 0) return members
  const joining = membership.flatMap((entry) => (entry._tag === "Join" ? [entry.participant] : []))
  return sortParticipants([...members, ...joining])
}
