/**
 * Who is in good standing, as far as this replica knows: who decides about ejections.
 *
 *   a, b, c in the infimum      b is being ejected       b let d in, c let e in
 *   survivors: a, c, e          d: only if a, c or e has acknowledged his Join
 *
 * 1. Survivors are all whose membership counts, without those being ejected and those leaving.
 * 2. A membership counts if it is in the infimum, or by the Join of one whose own counts.
 * 3. The Join by one who is being ejected counts only if a survivor has acknowledged it: whoever
 *    waits for that survivor then waits for the joiner too. Once the ejection is decided, the mark
 *    says which of his Joins count.
 */
import type { Acknowledgements } from "./acknowledgement.ts"
import { covers, findAcknowledgement } from "./acknowledgement.ts"
import type { Entry, JoinEntry } from "./entry.ts"
import type { EventId } from "./event-id.ts"
import { compareEventIds } from "./event-id.ts"
import type { MembershipView } from "./membership.ts"
import { isKnownEjected, leftAt, markOf } from "./membership.ts"
import type { Participant } from "./participant.ts"
import { formatParticipant, includesParticipant, sameParticipant } from "./participant.ts"
import type { Sequence } from "./sequence.ts"
import { itemAt, sizeOf } from "./sequence.ts"

/** What of a state says who is in good standing. */
export interface StandingView extends MembershipView {
  readonly entries: Sequence<Entry<unknown>>
  readonly acknowledgements: Acknowledgements
}

/** Where an id stands, or would stand, among the pending entries. O(log pending). */
export const placeOfId = (entries: Sequence<Entry<unknown>>, id: EventId): number => {
  let from = 0
  let to = sizeOf(entries)
  while (from < to) {
    const middle = (from + to) >>> 1
    if (compareEventIds(itemAt(entries, middle), id) < 0) from = middle + 1
    else to = middle
  }
  return from
}

/** Whether a participant has acknowledged a pending entry. */
export const hasAcknowledged = (
  view: Pick<StandingView, "infimum" | "entries" | "acknowledgements">,
  participant: Participant,
  id: EventId
): boolean =>
  covers(
    findAcknowledgement(view.acknowledgements, participant),
    view.infimum.count + placeOfId(view.entries, id)
  )

/** Who stands how in an object. */
export interface Standing {
  /** Those in good standing: they decide about ejections. */
  readonly survivors: ReadonlyArray<Participant>
  /** Those whose membership counts, also if they leave or are being ejected. */
  readonly counted: ReadonlyArray<Participant>
}

const standingGiven = (view: StandingView, known: ReadonlyArray<Participant>): Standing => {
  const counts = (issuer: Participant, id: EventId): boolean => {
    const mark = markOf(view, issuer)
    if (mark !== undefined) return id.ordinal <= mark
    return (
      !isKnownEjected(view, issuer) || known.some((survivor) => hasAcknowledged(view, survivor, id))
    )
  }
  let members = view.infimum.members.map((member) => member.participant)
  let counted = members
  const ejected = view.infimum.departed.filter((each) => each.reason === "ejected")
  // Leaves are noted also of those whose membership does not count, so that rounds only add.
  const leaves = new Map<string, number>()
  const isKnowing = ({ after, participant }: JoinEntry): boolean =>
    after === (leaves.get(formatParticipant(participant)) ?? leftAt(view.infimum, participant))
  const mayIssue = (issuer: Participant): boolean =>
    includesParticipant(members, issuer) ||
    ejected.some((each) => sameParticipant(each.participant, issuer))
  for (const entry of view.membership) {
    if (entry._tag === "Eject") continue
    if (entry._tag === "Leave") {
      members = members.filter((each) => !sameParticipant(each, entry.issuer))
      leaves.set(formatParticipant(entry.issuer), entry.ordinal)
    } else if (
      mayIssue(entry.issuer) &&
      !includesParticipant(members, entry.participant) &&
      isKnowing(entry) &&
      counts(entry.issuer, entry)
    ) {
      members = [...members, entry.participant]
      counted = [...counted, entry.participant]
    }
  }
  return { survivors: members.filter((each) => !isKnownEjected(view, each)), counted }
}

/**
 * Who stands how. Each round may let in whom one being ejected let in; the rounds end, as each lets
 * in one more or is the last. O(pending membership entries, squared).
 */
export const standingOf = (view: StandingView): Standing => {
  let standing = standingGiven(view, [])
  for (;;) {
    const next = standingGiven(view, standing.survivors)
    if (next.survivors.length === standing.survivors.length) return next
    standing = next
  }
}
