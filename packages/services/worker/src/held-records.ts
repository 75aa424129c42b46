/**
 * The records in flight, kept for further attempts and for dead letters.
 *
 *     ordinals   first                    next
 *                 | held | - | held | held |      slot = ordinal & mask
 *
 * Ordinals come densely and in order, and most records leave in order: a ring holds them where a
 * map would hash each one twice.
 */
import type { Ordinal, PartReport, Tracker } from "@holdfast/disposition"
import { hasPart } from "@holdfast/disposition"
import type { SourceRecord } from "@holdfast/records"
import type { OfferedRecord } from "./pipeline.ts"

/** A record in flight; an aggregate is kept open, as its user records. */
export interface HeldRecord {
  readonly record: SourceRecord
  readonly parts: ReadonlyArray<SourceRecord> | undefined
}

const slotsAtStart = 1_024

/** Records in flight by ordinal; it grows with the tracker's window, whose span is bounded. */
export class HeldRecords {
  #slots: Array<HeldRecord | undefined> = emptySlots(slotsAtStart)
  #first = 0
  #next = 0

  /** Holds a record under an ordinal above all that were held before. Amortised O(1). */
  hold(ordinal: Ordinal, held: HeldRecord): void {
    if (ordinal < this.#next) throw new Error(`record ${ordinal} is held out of order`)
    if (this.#first === this.#next) this.#first = ordinal
    while (ordinal - this.#first >= this.#slots.length) this.#grow()
    this.#slots[ordinal & (this.#slots.length - 1)] = held
    this.#next = ordinal + 1
  }

  /** The record under an ordinal; none when it was let go or never held. */
  get(ordinal: Ordinal): HeldRecord | undefined {
    return ordinal >= this.#first && ordinal < this.#next
      ? this.#slots[ordinal & (this.#slots.length - 1)]
      : undefined
  }

  /** Lets a record go, if it is held. Amortised O(1). */
  release(ordinal: Ordinal): void {
    if (ordinal < this.#first || ordinal >= this.#next) return
    const slots = this.#slots
    const mask = slots.length - 1
    slots[ordinal & mask] = undefined
    while (this.#first < this.#next && slots[this.#first & mask] === undefined) this.#first += 1
  }

  #grow(): void {
    const before = this.#slots
    const slots = emptySlots(before.length * 2)
    for (let ordinal = this.#first; ordinal < this.#next; ordinal++) {
      slots[ordinal & (slots.length - 1)] = before[ordinal & (before.length - 1)]
    }
    this.#slots = slots
  }
}

const emptySlots = (count: number): Array<HeldRecord | undefined> =>
  Array.from({ length: count }, () => undefined)

/** What a disposition of a record or of a part is about, where that is held. */
export const subjectOf = (
  { parts, record }: HeldRecord,
  part: PartReport | undefined
): SourceRecord => (part === undefined ? record : (parts?.[part.index] ?? record))

/**
 * Adds how a held record is offered: an aggregate as those of its user records that are not
 * finished (and, where that is said, among those that are wanted), anything else by itself.
 */
export const addOffers = (
  offers: Array<OfferedRecord>,
  { parts, record }: HeldRecord,
  how: {
    readonly ordinal: Ordinal
    readonly attempt: number
    readonly finishedParts: ReturnType<Tracker["finishedParts"]>
    readonly onlyParts?: ReadonlyArray<number> | undefined
  }
): void => {
  const { attempt, finishedParts, onlyParts, ordinal } = how
  if (parts === undefined) {
    // Nearly every record comes whole and for the first time: spreading would cost it more than all
    // else here.
    if (finishedParts === undefined && onlyParts === undefined) {
      offers.push({ ordinal, record, attempt })
      return
    }
    offers.push({
      ordinal,
      record,
      attempt,
      ...(finishedParts === undefined ? {} : { finishedParts }),
      ...(onlyParts === undefined ? {} : { onlyParts })
    })
    return
  }
  const total = parts.length
  for (const index of onlyParts ?? parts.keys()) {
    const part = parts[index]
    const isFinished = finishedParts !== undefined && hasPart(finishedParts, index)
    if (part === undefined || isFinished) continue
    offers.push({ ordinal, record: part, part: { index, total }, attempt })
  }
}
