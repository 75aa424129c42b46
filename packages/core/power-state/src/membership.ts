/**
 * Who takes part: by the infimum, and by the joins and leaves that are pending.
 */
import type { MembershipEntry } from "./entry.ts"
import type { Participant } from "./participant.ts"
import { compareParticipants, sameParticipant, sortParticipants } from "./participant.ts"
import type { Departed, Infimum, Member } from "./state.ts"

/** Members and departed while entries are folded; it never leaves the fold. */
export interface MembershipDraft {
  readonly members: Array<{ readonly participant: Participant; folded: number }>
  readonly departed: Array<Departed>
}

/** A draft that may be written to. */
export const draftOf = <S>(infimum: Infimum<S>): MembershipDraft => ({
  members: infimum.members.map((member) => ({ ...member })),
  departed: Array.from(infimum.departed)
})

const placeOf = (
  list: ReadonlyArray<{ readonly participant: Participant }>,
  participant: Participant
): number => {
  const place = list.findIndex((each) => compareParticipants(each.participant, participant) >= 0)
  return place < 0 ? list.length : place
}

const isAt = (
  list: ReadonlyArray<{ readonly participant: Participant }>,
  place: number,
  participant: Participant
): boolean => place < list.length && sameParticipant(list[place]!.participant, participant)

/** Takes in a participant; one who was here before goes on from his mark. */
export const joinMember = (draft: MembershipDraft, participant: Participant): void => {
  const place = placeOf(draft.members, participant)
  if (isAt(draft.members, place, participant)) return
  const gone = placeOf(draft.departed, participant)
  const wasHere = isAt(draft.departed, gone, participant)
  const folded = wasHere ? draft.departed[gone]!.mark : 0
  if (wasHere) draft.departed.splice(gone, 1)
  draft.members.splice(place, 0, { participant, folded })
}

/** Lets a participant go; his last folded ordinal stays as his mark. */
export const leaveMember = (draft: MembershipDraft, participant: Participant): void => {
  const place = placeOf(draft.members, participant)
  if (!isAt(draft.members, place, participant)) return
  const mark = draft.members[place]!.folded
  draft.members.splice(place, 1)
  draft.departed.splice(placeOf(draft.departed, participant), 0, { participant, mark })
}

/** Notes the last folded ordinal of an issuer. */
export const markFolded = (draft: MembershipDraft, issuer: Participant, ordinal: number): void => {
  for (const member of draft.members) {
    if (sameParticipant(member.participant, issuer)) {
      member.folded = ordinal
      return
    }
  }
}

/** Whether a participant of the infimum. */
export const isMember = (members: ReadonlyArray<Member>, participant: Participant): boolean =>
  members.some((member) => sameParticipant(member.participant, participant))

/** Whether a Leave of this participant is pending. */
export const isLeaving = (
  membership: ReadonlyArray<MembershipEntry>,
  participant: Participant
): boolean =>
  membership.some((entry) => entry._tag === "Leave" && sameParticipant(entry.issuer, participant))

/** Whether a participant after all pending joins and leaves. */
export const isProjectedParticipant = <S>(
  infimum: Infimum<S>,
  membership: ReadonlyArray<MembershipEntry>,
  participant: Participant
): boolean => {
  let isIn = isMember(infimum.members, participant)
  for (const entry of membership) {
    if (entry._tag === "Join") isIn ||= sameParticipant(entry.participant, participant)
    else if (sameParticipant(entry.issuer, participant)) isIn = false
  }
  return isIn
}

/** The participants after all pending joins and leaves, sorted. */
export const projectedMembers = <S>(
  infimum: Infimum<S>,
  membership: ReadonlyArray<MembershipEntry>
): ReadonlyArray<Participant> =>
  everybody(infimum, membership).filter((each) => isProjectedParticipant(infimum, membership, each))

/** Whoever is in the infimum or joins, also if he leaves: all who must still hear. Sorted. */
export const everybody = <S>(
  infimum: Infimum<S>,
  membership: ReadonlyArray<MembershipEntry>
): ReadonlyArray<Participant> => {
  const members = infimum.members.map((member) => member.participant)
  if (membership.length === 0) return members
  const joining = membership.flatMap((entry) => (entry._tag === "Join" ? [entry.participant] : []))
  return sortParticipants([...members, ...joining])
}
