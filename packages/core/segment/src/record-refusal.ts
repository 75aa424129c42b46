/** Why a record can never be in a segment, whatever stands in it already. */
import { AppendRefused } from "./errors.ts"
import { recordHeadersMax, writerLimitsDefault } from "./limits.ts"
import { type NewRecord, positionMax, recordBytes, timestampMax, timestampMin } from "./record.ts"

const partMax = 4_294_967_295

/** The refusal of a record that no segment of this limit can hold; none for any other. */
export const recordRefusal = (
  record: NewRecord,
  {
    bytes = recordBytes(record),
    recordBytesMax: limit = writerLimitsDefault.recordBytesMax
  }: { readonly bytes?: number; readonly recordBytesMax?: number } = {}
): AppendRefused | undefined => {
  const { headers, part = 0, position, timestamp } = record
  const refuse = (reason: AppendRefused["reason"], message: string) =>
    new AppendRefused({ reason, position, message })
  if (position < 0n || position > positionMax) {
    return refuse("PositionOutOfRange", `Position ${position} is not between 0 and 2^256 - 1.`)
  }
  if (!Number.isInteger(part) || part < 0 || part > partMax) {
    return refuse("PartOutOfRange", `Part ${part} is not between 0 and ${partMax}.`)
  }
  if (timestamp < timestampMin || timestamp > timestampMax) {
    return refuse("TimestampOutOfRange", `Timestamp ${timestamp} does not fit 64 bits.`)
  }
  if (bytes > limit) {
    return refuse("RecordTooLarge", `Record ${position} has ${bytes} bytes; at most ${limit}.`)
  }
  if (headers.length > recordHeadersMax) {
    return refuse("TooManyHeaders", `Record ${position} has over ${recordHeadersMax} headers.`)
  }
  return undefined
}
