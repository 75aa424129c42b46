/**
 * 64-bit integers without a bigint for each step.
 *
 * A bigint costs an allocation for each operation; two 32-bit words in a shared scratch cost none.
 * The scratch is read at once by whoever wrote it, and nothing here calls back.
 */

const scratch = new DataView(new ArrayBuffer(8))

/** 2^32, the weight of the high word. */
export const wordWeight = 4_294_967_296

/** Puts a signed 64-bit integer into the scratch. */
export const int64ToWords = (value: bigint): void => scratch.setBigInt64(0, value)

/** Puts an unsigned 64-bit integer into the scratch. */
export const uint64ToWords = (value: bigint): void => scratch.setBigUint64(0, value)

/** The high word of the scratch, unsigned. */
export const wordsHigh = (): number => scratch.getUint32(0)

/** The high word of the scratch, signed. */
export const wordsHighSigned = (): number => scratch.getInt32(0)

/** The low word of the scratch. */
export const wordsLow = (): number => scratch.getUint32(4)

/** The signed integer of two words. */
export const wordsToInt64 = (high: number, low: number): bigint => {
  scratch.setUint32(0, high)
  scratch.setUint32(4, low)
  return scratch.getBigInt64(0)
}

/** The unsigned integer of two words. */
export const wordsToUint64 = (high: number, low: number): bigint => {
  scratch.setUint32(0, high)
  scratch.setUint32(4, low)
  return scratch.getBigUint64(0)
}

/** Greatest unsigned 64-bit integer. */
export const uint64Max = 2n ** 64n - 1n

/** A difference between neighbours that the compact columns can hold: below 2^52. */
export const compactDifferenceMax = 4_503_599_627_370_495

/** The bytes of a non-negative integer, most significant first, without leading zeros. */
export const wideToBytes = (value: bigint): Uint8Array => {
  if (value === 0n) return new Uint8Array(0)
  const digits = value.toString(16)
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  const bytes = new Uint8Array(even.length / 2)
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(even.slice(index * 2, index * 2 + 2), 16)
  }
  return bytes
}

/** The inverse of `wideToBytes`. */
export const wideFromBytes = (bytes: Uint8Array): bigint => {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return value
}
