/**
 * Positions of Kinesis records: the sequence number above 32 bits for the sub-sequence number, so
 * that the order of positions is that of (sequence number, sub-sequence number).
 */

/** Where a record stands: its sequence number, and its place in the record it was taken out of. */
export interface KinesisPlace {
  /** A decimal number; up to about 186 bits. */
  readonly sequenceNumber: string
  readonly subSequenceNumber: number
}

const subBits = 32n
const subMask = (1n << subBits) - 1n

/** The greatest sub-sequence number that a position can hold. */
export const subSequenceNumberMax = Number(subMask)

/** Whether a text is a sequence number, and not a word such as TRIM_HORIZON. */
export const isSequenceNumber = (text: string): boolean => /^\d{1,64}$/.test(text)

/** The position of a place. */
export const positionOf = ({ sequenceNumber, subSequenceNumber }: KinesisPlace): bigint =>
  (BigInt(sequenceNumber) << subBits) | BigInt(subSequenceNumber)

/** The place of a position. */
export const placeOf = (position: bigint): KinesisPlace => ({
  sequenceNumber: (position >> subBits).toString(),
  subSequenceNumber: Number(position & subMask)
})
