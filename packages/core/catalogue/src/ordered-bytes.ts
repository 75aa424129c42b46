/**
 * Encodings whose byte order is the order of what they encode.
 *
 *     text       bytes, 00 as 00 FF, then 00 00       any prefix sorts before what continues it
 *     time       8 bytes, sign bit flipped            -2^63 .. 2^63 - 1
 *     position   length, then big-endian bytes        0 .. 2^256 - 1
 *     number     IEEE 754 with signs turned           -Infinity .. Infinity, -0 as 0
 */

/** The smallest 64-bit timestamp, nanoseconds. */
export const timeMinimum = -(2n ** 63n)
/** The greatest 64-bit timestamp, nanoseconds. */
export const timeMaximum = 2n ** 63n - 1n
/** The greatest position. */
export const positionMaximum = 2n ** 256n - 1n

const scratch = new DataView(new ArrayBuffer(8))
const scratchBytes = new Uint8Array(scratch.buffer)

/** One byte string of many. */
export const joinBytes = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    joined.set(part, offset)
    offset += part.length
  }
  return joined
}

/** Bytes compared as unsigned, a prefix before what continues it. */
export const compareBytes = (left: Uint8Array, right: Uint8Array): number => {
  const shared = Math.min(left.length, right.length)
  for (let index = 0; index < shared; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** A byte string with its end marked, so that whatever follows does not disturb the order. */
export const orderedText = (bytes: Uint8Array): Uint8Array => {
  const escaped: Array<number> = []
  for (const byte of bytes) {
    escaped.push(byte)
    if (byte === 0) escaped.push(0xff)
  }
  escaped.push(0, 0)
  return Uint8Array.from(escaped)
}

/** A time in 8 bytes; one outside 64 bits is moved to the nearer end. */
export const orderedTime = (time: bigint): Uint8Array => {
  const bounded = time < timeMinimum ? timeMinimum : time > timeMaximum ? timeMaximum : time
  scratch.setBigUint64(0, bounded - timeMinimum)
  return scratchBytes.slice()
}

/** The inverse of `orderedTime`. */
export const timeOfBytes = (bytes: Uint8Array): bigint => {
  let value = 0n
  for (const byte of bytes.subarray(0, 8)) value = (value << 8n) | BigInt(byte)
  return value + timeMinimum
}

/** A position in 1 to 33 bytes; one out of range is moved to the nearer end. */
export const orderedPosition = (position: bigint): Uint8Array => {
  const above = position > positionMaximum ? positionMaximum : position
  const digits = above <= 0n ? "" : above.toString(16)
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  const bytes = new Uint8Array(1 + even.length / 2)
  bytes[0] = even.length / 2
  for (let index = 1; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(even.slice(index * 2 - 2, index * 2), 16)
  }
  return bytes
}

/** The inverse of `orderedPosition`. */
export const positionOfBytes = (bytes: Uint8Array): bigint => {
  let value = 0n
  for (const byte of bytes.subarray(1, 1 + (bytes[0] ?? 0))) value = (value << 8n) | BigInt(byte)
  return value
}

/** A number in 8 bytes. */
export const orderedNumber = (value: number): Uint8Array => {
  scratch.setFloat64(0, value === 0 ? 0 : value)
  const bytes = scratchBytes.slice()
  const negative = (bytes[0] ?? 0) >= 0x80
  return bytes.map((byte, index) => (negative ? byte ^ 0xff : index === 0 ? byte ^ 0x80 : byte))
}

/** A 32-bit number in 4 bytes. */
export const orderedWord = (value: number): Uint8Array => {
  scratch.setUint32(0, value)
  return scratchBytes.slice(0, 4)
}

/** A safe integer in 8 bytes. */
export const orderedInteger = (value: number): Uint8Array => {
  scratch.setBigUint64(0, BigInt(value))
  return scratchBytes.slice()
}
