/** Dead letters as records of a spooled stream, with what happened in their headers. */
import { RecordSpool } from "@holdfast/records"
import { Effect, Layer } from "effect"
import { type DeadLetter, DeadLetterError, DeadLetters } from "./dead-letters.ts"
import { letterHeaders } from "./letter-headers.ts"

const encoder = new TextEncoder()

/** FNV-1a of 32 bits as hexadecimal digits: an append's id has room for 64 bytes only. */
const shortName = (text: string): string => {
  let hash = 0x811c9dc5
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16)
}

const appendIdOf = ({ id, part, record }: DeadLetter): string => {
  const end = part === undefined ? "" : `/${part.index}`
  return `${shortName(id)}-${String(record.position).slice(-40)}${end}`
}

/** Puts a letter into a stream of a spool; one that is put again soon adds nothing. */
export const putIntoSpool = (
  spool: RecordSpool["Service"],
  stream: string,
  letter: DeadLetter
): Effect.Effect<void, DeadLetterError> => {
  const { data, headers, subject, timestamp } = letter.record
  const record = { timestamp, subject, data, headers: [...headers, ...letterHeaders(letter)] }
  return spool.append({ stream, appendId: appendIdOf(letter), records: [record] }).pipe(
    Effect.asVoid,
    Effect.mapError(({ message }) => new DeadLetterError({ message }))
  )
}

/** Keeps dead letters in a stream of their own. */
export const spoolDeadLetters = (stream: string): Layer.Layer<DeadLetters, never, RecordSpool> =>
  Layer.effect(
    DeadLetters,
    Effect.map(RecordSpool, (spool) =>
      DeadLetters.of({ put: (letter) => putIntoSpool(spool, stream, letter) })
    )
  )
