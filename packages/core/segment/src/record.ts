/** What a segment holds, one entry for each user record. */

/** One header of a record: names repeat and keep their order. */
export type SegmentHeader = readonly [name: Uint8Array, value: Uint8Array]

/**
 * One record as it stood in its shard, byte for byte.
 *
 * `position` is the source's own number (any size up to 256 bits), `part` the index inside an
 * aggregated message (0 otherwise), `timestamp` nanoseconds since 1970 within a signed 64-bit word.
 * Decoded subjects and header names that came from the dictionary are the same `Uint8Array` object
 * for the same bytes within one opened file, so that a caller may cache their text by identity.
 * Decoded payloads are views into the block they came from.
 */
export interface SegmentRecord {
  readonly position: bigint
  readonly part: number
  readonly timestamp: bigint
  readonly subject: Uint8Array
  readonly headers: ReadonlyArray<SegmentHeader>
  readonly data: Uint8Array
}

/** A record as it is handed to a writer: one that says no part is part 0. */
export interface NewRecord extends Omit<SegmentRecord, "part"> {
  readonly part?: number
}

/** The value of one tag of one record, as the tag rules drew it. */
export interface RecordTag {
  readonly name: string
  readonly value: Uint8Array
}

/** The smallest 64-bit timestamp, nanoseconds. */
export const timestampMin = -(2n ** 63n)
/** The greatest 64-bit timestamp, nanoseconds. */
export const timestampMax = 2n ** 63n - 1n
/** The greatest position: 256 bits. */
export const positionMax = 2n ** 256n - 1n

/** Bytes that a record counts for before compression: subject, headers and payload. */
export const recordBytes = ({ data, headers, subject }: NewRecord): number => {
  let bytes = subject.length + data.length
  for (let index = 0; index < headers.length; index++) {
    const [name, value] = headers[index]!
    bytes += name.length + value.length
  }
  return bytes
}

/** Compares byte strings as unsigned bytes, a prefix before what continues it. */
export const compareBytes = (left: Uint8Array, right: Uint8Array): number => {
  const shared = Math.min(left.length, right.length)
  for (let index = 0; index < shared; index++) {
    const difference = left[index]! - right[index]!
    if (difference !== 0) return difference
  }
  return left.length - right.length
}
