/** Records, and parts of records, that wait to be laid aside as dead letters. */
import type { Ordinal, PartReport } from "@holdfast/disposition"

/** One of them; without a part it is the whole record. */
export interface PendingLetter {
  readonly ordinal: Ordinal
  readonly part: PartReport | undefined
  readonly attempts: number
  readonly reason: string
}

const whole = -1

/** Bounded by the tracker: what waits here is in flight. */
export class PendingLetters {
  private readonly waiting = new Map<Ordinal, Map<number, PendingLetter>>()

  /** Whether none waits. */
  get isEmpty(): boolean {
    return this.waiting.size === 0
  }

  /** Lets a letter wait; a later one for the same thing takes its place. */
  add(letter: PendingLetter): void {
    const { ordinal, part } = letter
    const letters = this.waiting.get(ordinal) ?? new Map<number, PendingLetter>()
    letters.set(part?.index ?? whole, letter)
    this.waiting.set(ordinal, letters)
  }

  /** Forgets one letter. */
  remove({ ordinal, part }: PendingLetter): void {
    const letters = this.waiting.get(ordinal)
    letters?.delete(part?.index ?? whole)
    if (letters?.size === 0) this.waiting.delete(ordinal)
  }

  /** Forgets all letters of a record that is finished. */
  forget(ordinal: Ordinal): void {
    // Asked once for every record, and next to none of them waits.
    if (this.waiting.size > 0) this.waiting.delete(ordinal)
  }

  /** All of them as they are now, in the order of their records' first. */
  get all(): ReadonlyArray<PendingLetter> {
    return Array.from(this.waiting.values()).flatMap((letters) => Array.from(letters.values()))
  }
}
