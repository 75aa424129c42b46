/** The envelope around a message: magic number, digest, and for one format a zlib stream. */
import { Result } from "effect"
import { ensure } from "./assertion.ts"
import { digestBytes, type Format, formatOf, magicBytes } from "./format.ts"
import type { ReadLimits } from "./limits.ts"
import type { Range } from "./message.ts"
import { ordinary, type Plain, plain } from "./plain.ts"
import type { Inflate, Md5 } from "./platform.ts"

/** What opening an envelope needs; without `inflate` the private formats are ordinary records. */
export interface EnvelopeReading {
  readonly md5: Md5
  readonly inflate: Inflate | undefined
  readonly limits: ReadLimits
}

/** An envelope whose digest was found right. */
export interface Envelope extends Range {
  readonly _tag: "Envelope"
  readonly format: Format
}

const digestMatches = (md5: Md5, range: Range): boolean => {
  const { bytes, end, start } = range
  const digest = md5(bytes.subarray(start, end))
  ensure(digest.length === digestBytes, `an MD5 digest has 16 bytes, not ${digest.length}`)
  let difference = 0
  for (let at = 0; at < digestBytes; at++) difference |= digest[at]! ^ bytes[end + at]!
  return difference === 0
}

const open = (format: Format, bytes: Uint8Array, start: number, md5: Md5): Envelope | Plain => {
  const end = bytes.length - digestBytes
  // The KCL's rule is more than a digest, not at least: an empty message is no aggregate.
  if (end <= start) return plain("TooShort", start)
  const range = { bytes, start, end }
  if (!digestMatches(md5, range)) return plain("DigestMismatch", end)
  return { _tag: "Envelope", format, ...range }
}

/** Opens the envelope around a message, or says why the record is plain. */
export const openEnvelope = (bytes: Uint8Array, reading: EnvelopeReading): Envelope | Plain => {
  const { inflate, limits, md5 } = reading
  const format = formatOf(bytes)
  if (format === undefined) return ordinary
  if (format === "standard") return open(format, bytes, magicBytes, md5)
  if (inflate === undefined) return ordinary
  if (format === "hidden") return open(format, bytes, magicBytes, md5)
  const inflated = Result.try(() => inflate(bytes.subarray(magicBytes), limits.inflatedBytes))
  // A platform that does not keep to the limit must not get past it.
  if (Result.isFailure(inflated) || inflated.success.length > limits.inflatedBytes) {
    return plain("NotInflated", magicBytes)
  }
  return open(format, inflated.success, 0, md5)
}
