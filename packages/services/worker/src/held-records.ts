/** The records in flight, kept for further attempts and for dead letters. */
import type { Ordinal, PartReport, Tracker } from "@holdfast/disposition"
import { hasPart } from "@holdfast/disposition"
import type { SourceRecord } from "@holdfast/records"
import type { OfferedRecord } from "./pipeline.ts"

/** A record in flight; an aggregate is kept open, as its user records. */
export interface HeldRecord {
  readonly record: SourceRecord
  readonly parts: ReadonlyArray<SourceRecord> | undefined
}

/** What a disposition of a record or of a part is about, where that is held. */
export const subjectOf = (
  { parts, record }: HeldRecord,
  part: PartReport | undefined
): SourceRecord => (part === undefined ? record : (parts?.[part.index] ?? record))

/**
 * How a held record is offered: an aggregate as those of its user records that are not finished
 * (and, where that is said, among those that are wanted), anything else by itself.
 */
export const offersOf = (
  { parts, record }: HeldRecord,
  how: {
    readonly ordinal: Ordinal
    readonly attempt: number
    readonly finishedParts: ReturnType<Tracker["finishedParts"]>
    readonly onlyParts?: ReadonlyArray<number> | undefined
  }
): ReadonlyArray<OfferedRecord> => {
  const { attempt, finishedParts, onlyParts, ordinal } = how
  if (parts === undefined) {
    return [
      {
        ordinal,
        record,
        attempt,
        ...(finishedParts === undefined ? {} : { finishedParts }),
        ...(onlyParts === undefined ? {} : { onlyParts })
      }
    ]
  }
  const total = parts.length
  const offers: Array<OfferedRecord> = []
  for (const index of onlyParts ?? parts.keys()) {
    const part = parts[index]
    const isFinished = finishedParts !== undefined && hasPart(finishedParts, index)
    if (part === undefined || isFinished) continue
    offers.push({ ordinal, record: part, part: { index, total }, attempt })
  }
  return offers
}
