/**
 * Opening aggregated records by the rules of the KCL.
 *
 *     F3 89 9A C2 | AggregatedRecord (protobuf) | MD5 of the protobuf
 *     00 89 9A C2 | AggregatedRecord (protobuf) | MD5            private, behind an option
 *     01 89 9A C2 | zlib(AggregatedRecord (protobuf) | MD5)      private, behind an option
 *
 * Invariants:
 * 1. Total: whatever the bytes, the answer is one of three outcomes and never an exception.
 * 2. All or nothing: a message with one fault gives no user record at all, and the record goes on
 *    whole as `Plain`, so that nothing is lost and nothing is seen twice.
 * 3. Nothing is opened unless its MD5 matches.
 * 4. One level: data that is an aggregate itself stays closed.
 * 5. User records come in the order of the message; no byte of their data is copied.
 * 6. What a message makes it allocate is bounded by the limits and by the message's own size.
 */
import { openEnvelope } from "./envelope.ts"
import type { Format } from "./format.ts"
import { checkRange, type HashRange } from "./hash-range.ts"
import { defaultReadLimits, type ReadLimits } from "./limits.ts"
import { readMessage } from "./message.ts"
import { type Plain, plain } from "./plain.ts"
import type { Inflate, Md5 } from "./platform.ts"
import type { UserRecord } from "./user-record.ts"

/** What a deaggregator is given. */
export interface DeaggregatorOptions {
  readonly md5: Md5
  readonly limits?: Partial<ReadLimits>
  /** Opens the two private formats as well; without it they are ordinary records. */
  readonly privateFormats?: { readonly inflate: Inflate }
  /**
   * What happens to a user record outside of the shard's hash range. Without it, all are kept.
   * With it, one outside drops the whole aggregate, as the KCL does (it takes such a record for a
   * leftover of a producer that did not know the shards).
   */
  readonly dropOutside?: HashRange
}

/**
 * The user records of an aggregate. There may be none: then the record was an aggregate with 0
 * parts, and is finished as it is.
 */
export interface Aggregate {
  readonly _tag: "Aggregate"
  readonly format: Format
  readonly records: ReadonlyArray<UserRecord>
}

/**
 * The aggregate was dropped because a user record, the one at `index`, is outside of the hash
 * range. It counts as finished; count it, since `records` user records are not delivered.
 */
export interface Dropped {
  readonly _tag: "Dropped"
  readonly format: Format
  readonly records: number
  readonly index: number
}

/** What a record turned out to be. */
export type Deaggregated = Aggregate | Plain | Dropped

/** Opens one record; its time grows with the bytes of the record. */
export type Deaggregator = (bytes: Uint8Array) => Deaggregated

/** Makes the function that opens records. */
export const deaggregator = (options: DeaggregatorOptions): Deaggregator => {
  const { dropOutside, md5, privateFormats } = options
  const limits = { ...defaultReadLimits, ...options.limits }
  const reading = { md5, limits, inflate: privateFormats?.inflate }
  return (bytes) => {
    const envelope = openEnvelope(bytes, reading)
    if (envelope._tag === "Plain") return envelope
    const records = readMessage(envelope, limits)
    if ("_tag" in records) return records
    const { format } = envelope
    if (dropOutside === undefined) return { _tag: "Aggregate", format, records }
    const check = checkRange(records, dropOutside, md5)
    switch (check._tag) {
      case "AllInside":
        return { _tag: "Aggregate", format, records }
      case "Outside":
        return { _tag: "Dropped", format, records: records.length, index: check.index }
      case "NotANumber":
        return plain("ExplicitHashKey", envelope.start)
    }
  }
}
