/**
 * Members and departed while entries are folded, one membership entry after another.
 */
import type { JoinEntry, LeaveEntry, MembershipEntry } from "./entry.ts"
import type { Participant } from "./participant.ts"
import { compareParticipants, formatParticipant, sameParticipant } from "./participant.ts"
import type { Departed, Infimum, Seal } from "./state.ts"

/** Members and departed while entries are folded; it never leaves the fold. */
export interface MembershipDraft {
  readonly members: Array<{ readonly participant: Participant; folded: number }>
  readonly departed: Array<Departed>
  /** The decided ejections that are not folded yet. */
  seals: ReadonlyArray<Seal>
}

/** A draft that may be written to. */
export const draftOf = (
  infimum: Infimum<unknown>,
  seals: ReadonlyArray<Seal>
): MembershipDraft => ({
  members: infimum.members.map((member) => ({ ...member })),
  departed: Array.from(infimum.departed),
  seals
})

type Listed = ReadonlyArray<{ readonly participant: Participant }>

const placeOf = (list: Listed, participant: Participant): number => {
  const place = list.findIndex((each) => compareParticipants(each.participant, participant) >= 0)
  return place < 0 ? list.length : place
}

const isAt = (list: Listed, place: number, participant: Participant): boolean =>
  place < list.length && sameParticipant(list[place]!.participant, participant)

/** Takes in a participant; one who left goes on from his mark, one who was ejected stays out. */
const join = (draft: MembershipDraft, { after, participant }: JoinEntry): void => {
  const place = placeOf(draft.members, participant)
  if (isAt(draft.members, place, participant)) return
  const gone = placeOf(draft.departed, participant)
  const before = isAt(draft.departed, gone, participant) ? draft.departed[gone] : undefined
  const mark = before?.mark ?? 0
  if (before?.reason === "ejected" || mark !== after) return
  if (before !== undefined) draft.departed.splice(gone, 1)
  draft.members.splice(place, 0, { participant, folded: mark })
}

/** Lets a participant go; the ordinal of his Leave stays as his mark: it is his last entry. */
const leave = (draft: MembershipDraft, { issuer: participant, ordinal }: LeaveEntry): void => {
  const place = placeOf(draft.members, participant)
  if (!isAt(draft.members, place, participant)) return
  draft.members.splice(place, 1)
  const departed: Departed = { participant, mark: ordinal, reason: "left" }
  draft.departed.splice(placeOf(draft.departed, participant), 0, departed)
}

/** Puts a participant out for ever, with the mark that was decided. */
const eject = (draft: MembershipDraft, participant: Participant): void => {
  const seal = draft.seals.find((each) => sameParticipant(each.participant, participant))
  const place = placeOf(draft.members, participant)
  const isIn = isAt(draft.members, place, participant)
  const gone = placeOf(draft.departed, participant)
  const before = isAt(draft.departed, gone, participant) ? draft.departed[gone] : undefined
  const mark = seal?.mark ?? (isIn ? undefined : before?.mark)
  if (mark === undefined) {
    throw new Error(`the ejection of ${formatParticipant(participant)} was folded undecided`)
  }
  if (isIn) draft.members.splice(place, 1)
  const departed: Departed = { participant, mark, reason: "ejected" }
  draft.departed.splice(gone, before === undefined ? 0 : 1, departed)
  if (seal !== undefined) draft.seals = draft.seals.filter((each) => each !== seal)
}

/** Carries out a membership entry at its place in the order. */
export const foldMembership = (draft: MembershipDraft, entry: MembershipEntry): void => {
  switch (entry._tag) {
    case "Join":
      return join(draft, entry)
    case "Leave":
      return leave(draft, entry)
    case "Eject":
      return eject(draft, entry.participant)
  }
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
