/** Dead letters as records of a spooled stream, with what happened in their headers. */
import type { RecordHeader } from "@holdfast/records"
import { RecordSpool } from "@holdfast/records"
import { Effect, Layer } from "effect"
import { type DeadLetter, DeadLetterError, DeadLetters } from "./dead-letters.ts"

const encoder = new TextEncoder()
const longestReasonBytes = 1_024

/** The headers that a letter adds behind the record's own. */
const letterHeaders = (letter: DeadLetter): ReadonlyArray<RecordHeader> => {
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

/** FNV-1a of 32 bits as hexadecimal digits: an append's id has room for 64 bytes only. */
const shortName = (text: string): string => {
  let hash = 0x811c9dc5
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16)
}

const appendIdOf = ({ part, record, shard }: DeadLetter): string => {
  const end = part === undefined ? "" : `/${part.index}`
  return `${shortName(shard)}-${String(record.position).slice(-40)}${end}`
}

/** Keeps dead letters in a stream of their own; a letter that is put again soon adds nothing. */
export const spoolDeadLetters = (stream: string): Layer.Layer<DeadLetters, never, RecordSpool> =>
  Layer.effect(
    DeadLetters,
    Effect.map(RecordSpool, (spool) =>
      DeadLetters.of({
        put: (letter) => {
          const { data, headers, subject, timestamp } = letter.record
          return spool
            .append({
              stream,
              appendId: appendIdOf(letter),
              records: [
                { timestamp, subject, data, headers: [...headers, ...letterHeaders(letter)] }
              ]
            })
            .pipe(
              Effect.asVoid,
              Effect.mapError(({ message }) => new DeadLetterError({ message }))
            )
        }
      })
    )
  )
