/**
 * Decides ejections: which entries of the ejected count.
 *
 *   Eject(c) known to a, b, d; c's last entry known is 7     a  b  d   survivors, all have
 *   a majority of the infimum, or the cluster decided        x  x  x   acknowledged both
 *   => seal: c, mark 7
 *
 * 1. All open ejections are decided together, when of each some Eject and every pending entry of
 *    the ejected are acknowledged by all survivors, and the survivors have the authority.
 * 2. So every survivor holds the same entries of the ejected: an acknowledgement of an Eject comes
 *    with all that its giver holds, and after it he takes nothing from the ejected any more.
 *    Whoever decides therefore comes to the same mark.
 * 3. Only a survivor decides, and only a survivor folds until it is decided. One who knows that he
 *    is ejected, leaves, or was let in by a Join that does not count takes the outcome from them.
 */
import { findAcknowledgement, covers } from "./acknowledgement.ts"
import type { MembershipView } from "./membership.ts"
import { isKnownEjected, isMember, markOf } from "./membership.ts"
import type { Participant } from "./participant.ts"
import {
  compareParticipants,
  formatParticipant,
  includesParticipant,
  sameParticipant
} from "./participant.ts"
import { itemAt, sizeOf } from "./sequence.ts"
import type { StandingView } from "./standing.ts"
import { hasAcknowledged, standingOf } from "./standing.ts"
import type { Authority, PowerState, Seal } from "./state.ts"

/** Those whose ejection is pending and not decided. One who has left for good needs no decision. */
export const openEjections = (view: MembershipView): ReadonlyArray<Participant> => {
  const open: Array<Participant> = []
  for (const entry of view.membership) {
    if (entry._tag !== "Eject") continue
    const { participant } = entry
    const isIn =
      isMember(view.infimum.members, participant) ||
      view.membership.some(
        (each) => each._tag === "Join" && sameParticipant(each.participant, participant)
      )
    if (!isIn || markOf(view, participant) !== undefined) continue
    if (!includesParticipant(open, participant)) open.push(participant)
  }
  return open
}

/** How many of the infimum's participants must be in good standing, of how many there are. */
export const neededSurvivors = (authority: Authority, members: number): number => {
  switch (authority) {
    case "majority":
      return Math.floor(members / 2) + 1
    case "cluster":
      return 1
  }
}

/** Which of the infimum's participants are in good standing, and whether these are enough. */
export const authorityOf = (
  view: StandingView & { readonly authority: Authority },
  survivors: ReadonlyArray<Participant>
): { readonly present: ReadonlyArray<Participant>; readonly needed: number } => ({
  present: survivors.filter((each) => isMember(view.infimum.members, each)),
  needed: neededSurvivors(view.authority, view.infimum.members.length)
})

/** Whether a survivor has acknowledged an Eject of each, and every pending entry of theirs. */
const hasAnswered = (
  view: StandingView,
  ejected: ReadonlyArray<Participant>,
  survivor: Participant
): boolean => {
  const hasHeard = ejected.every((participant) =>
    view.membership.some(
      (entry) =>
        entry._tag === "Eject" &&
        sameParticipant(entry.participant, participant) &&
        hasAcknowledged(view, survivor, entry)
    )
  )
  if (!hasHeard) return false
  const record = findAcknowledgement(view.acknowledgements, survivor)
  for (let index = 0; index < sizeOf(view.entries); index += 1) {
    const { issuer } = itemAt(view.entries, index)
    const isTheirs = includesParticipant(ejected, issuer)
    if (isTheirs && !covers(record, view.infimum.count + index)) return false
  }
  return true
}

/** The highest entry known of a participant: folded, or pending. */
export const highestKnown = (view: StandingView, participant: Participant): number => {
  const isHe = (each: { readonly participant: Participant }) =>
    sameParticipant(each.participant, participant)
  let mark = view.infimum.members.find(isHe)?.folded ?? view.infimum.departed.find(isHe)?.mark ?? 0
  for (let index = 0; index < sizeOf(view.entries); index += 1) {
    const entry = itemAt(view.entries, index)
    if (sameParticipant(entry.issuer, participant)) mark = Math.max(mark, entry.ordinal)
  }
  return mark
}

/** The order in which decisions are listed. */
export const bySealed = (left: Seal, right: Seal): number =>
  compareParticipants(left.participant, right.participant)

/**
 * Whether `self` may fold: not while an ejection is open and he does not survive it. Those who are
 * asked then may be the ejected alone, and the survivors come to another order.
 */
export const mayFold = (view: StandingView, self: Participant): boolean => {
  if (view.membership.length === 0) return true
  if (isKnownEjected(view, self)) return false
  return openEjections(view).length === 0 || includesParticipant(standingOf(view).survivors, self)
}

/**
 * The state of `self` with all open ejections decided, if that is due; the same state if not.
 * O(pending times participants) while an ejection is open, O(1) otherwise.
 */
export const seal = <E, O, S>(
  state: PowerState<E, O, S>,
  self: Participant
): PowerState<E, O, S> => {
  if (state.membership.length === 0) return state
  const ejected = openEjections(state)
  if (ejected.length === 0) return state
  const { survivors } = standingOf(state)
  if (!includesParticipant(survivors, self)) return state
  const { needed, present } = authorityOf(state, survivors)
  if (present.length < needed) return state
  if (!survivors.every((survivor) => hasAnswered(state, ejected, survivor))) return state
  const decided = ejected.map((participant) => ({
    participant,
    mark: highestKnown(state, participant)
  }))
  return { ...state, seals: [...state.seals, ...decided].sort(bySealed) }
}

/**
 * The decisions that two replicas know, those folded in `base` left out. Two marks of one ejected
 * participant are a broken invariant: this throws.
 */
export const uniteSeals = (
  base: MembershipView,
  left: MembershipView,
  right: MembershipView
): ReadonlyArray<Seal> => {
  const known = [...left.seals, ...right.seals]
  if (known.length === 0) return known
  for (const { mark, participant } of known) {
    for (const view of [left, right]) {
      const other = markOf(view, participant)
      if (other !== undefined && other !== mark) {
        throw new Error(
          `the ejection of ${formatParticipant(participant)} was decided twice, ` +
            `with the marks ${mark} and ${other}`
        )
      }
    }
  }
  const isFolded = ({ participant }: Seal) =>
    base.infimum.departed.some(
      (each) => each.reason === "ejected" && sameParticipant(each.participant, participant)
    )
  return known
    .filter((each) => !isFolded(each))
    .sort(bySealed)
    .filter(
      (each, index, all) =>
        index === 0 || !sameParticipant(each.participant, all[index - 1]!.participant)
    )
}
