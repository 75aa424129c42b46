/**
 * Who holds which pending entries.
 *
 *   position    8   9  10  11  12      entries are counted from the beginning of the object
 *   alice       x   x   x   .   x      through = 11, beyond = [12]
 *
 * A participant acknowledges everything it knows at once, so a number says nearly all; gaps appear
 * only where a merge brings entries that sort before acknowledged ones.
 *
 * 1. The list is sorted by participant; nobody stands in it twice.
 * 2. `through` is as large as can be: the entry at `through` is not acknowledged.
 * 3. `beyond` ascends and holds positions above `through` only.
 */
import type { Participant } from "./participant.ts"
import { compareParticipants } from "./participant.ts"

/** What one participant holds: all below the position `through`, and those in `beyond`. */
export interface Acknowledgement {
  readonly participant: Participant
  readonly through: number
  readonly beyond: ReadonlyArray<number>
}

/** The acknowledgements of an object, sorted by participant. */
export type Acknowledgements = ReadonlyArray<Acknowledgement>

const NONE_BEYOND: ReadonlyArray<number> = []

/** The record of a participant, if it acknowledged anything yet. */
export const findAcknowledgement = (
  acknowledgements: Acknowledgements,
  participant: Participant
): Acknowledgement | undefined => {
  for (const each of acknowledgements) {
    if (compareParticipants(each.participant, participant) === 0) return each
  }
  return undefined
}

/** The first position that a participant does not hold; 0 for one that was never heard. */
export const heldThrough = (acknowledgements: Acknowledgements, participant: Participant): number =>
  findAcknowledgement(acknowledgements, participant)?.through ?? 0

/** Whether a record covers a position. */
export const covers = (record: Acknowledgement | undefined, position: number): boolean =>
  record !== undefined &&
  (position < record.through || (record.beyond.length > 0 && record.beyond.includes(position)))

/** The participant holds everything below `end`. */
export const acknowledgeThrough = (
  acknowledgements: Acknowledgements,
  participant: Participant,
  end: number
): Acknowledgements => {
  const record = { participant, through: end, beyond: NONE_BEYOND }
  const next: Array<Acknowledgement> = []
  let isPlaced = false
  for (const each of acknowledgements) {
    const order = compareParticipants(each.participant, participant)
    if (order >= 0 && !isPlaced) {
      next.push(record)
      isPlaced = true
    }
    if (order !== 0) next.push(each)
  }
  if (!isPlaced) next.push(record)
  return next
}

/** Builds a record from one answer per position `first..end`. */
export const acknowledgementFrom = (
  participant: Participant,
  first: number,
  end: number,
  isHeld: (position: number) => boolean
): Acknowledgement => {
  let through = first
  while (through < end && isHeld(through)) through += 1
  const beyond: Array<number> = []
  for (let position = through + 1; position < end; position += 1) {
    if (isHeld(position)) beyond.push(position)
  }
  return { participant, through, beyond: beyond.length === 0 ? NONE_BEYOND : beyond }
}

/**
 * Brings the records of those who were not asked up to the position `first`, as invariant 2 wants.
 */
export const settle = (acknowledgements: Acknowledgements, first: number): Acknowledgements =>
  acknowledgements.every((each) => each.through >= first)
    ? acknowledgements
    : acknowledgements.map((each) => {
        if (each.through >= first) return each
        const end = (each.beyond.at(-1) ?? first) + 1
        return acknowledgementFrom(each.participant, first, end, (at) => covers(each, at))
      })

/** Whether a record says anything about positions from `first` on. */
export const saysAnything = (record: Acknowledgement, first: number): boolean =>
  record.through > first || record.beyond.length > 0

const sameRecord = (left: Acknowledgement, right: Acknowledgement): boolean =>
  compareParticipants(left.participant, right.participant) === 0 &&
  left.through === right.through &&
  left.beyond.length === right.beyond.length &&
  left.beyond.every((position, at) => position === right.beyond[at])

/** Whether two lists say the same about the positions from `first` on. */
export const sameAcknowledgements = (
  left: Acknowledgements,
  right: Acknowledgements,
  first: number
): boolean => {
  const leftLive = left.filter((each) => saysAnything(each, first))
  const rightLive = right.filter((each) => saysAnything(each, first))
  return (
    leftLive.length === rightLive.length &&
    leftLive.every((each, index) => sameRecord(each, rightLive[index]!))
  )
}
