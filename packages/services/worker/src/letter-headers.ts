/** What a dead letter says of its record's failure, as headers. */
import type { RecordHeader } from "@holdfast/records"
import type { DeadLetter } from "./dead-letters.ts"

const encoder = new TextEncoder()
const longestReasonBytes = 1_024

/** The headers that a letter adds behind the record's own. */
export const letterHeaders = (letter: DeadLetter): ReadonlyArray<RecordHeader> => {
  const values = {
    "Holdfast-Shard": letter.shard,
    "Holdfast-Position": String(letter.record.position),
    ...(letter.part === undefined
      ? {}
      : { "Holdfast-Part": `${letter.part.index} of ${letter.part.total}` }),
    "Holdfast-Attempts": String(letter.attempts),
    "Holdfast-Reason": letter.reason
  }
  return Object.entries(values).map(([name, value]) => [
    encoder.encode(name),
    encoder.encode(value.replaceAll(/[\r\n]/g, " ")).slice(0, longestReasonBytes)
  ])
}
