/**
 * The CRC-32 of two byte strings in a row, from the checksum of each and the length of the second.
 *
 * A CRC is the remainder of the bytes as a polynomial over GF(2). Bytes in front of `n` others count
 * as multiplied by x^(8n), so joining is one multiplication modulo the polynomial, whatever the
 * length. Bit 31 is the coefficient of x^0.
 */

const polynomial = 0xedb88320
const one = 0x8000_0000

/** The product of two remainders; O(32). */
const multiply = (left: number, right: number): number => {
  let product = 0
  let shifted = right
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((left & bit) !== 0) product ^= shifted
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial
  }
  return product >>> 0
}

/** x^(8 * bytes) as a remainder; O(log bytes). */
const powerOfBytes = (bytes: number): number => {
  let power = one
  // x^8: multiplied once for each byte, by squaring.
  let square = one >>> 8
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(square, power)
    square = multiply(square, square)
  }
  return power
}

/** Joins checksums whose second bytes are always `bytes` long. */
export const checksumJoiner = (bytes: number): ((first: number, second: number) => number) => {
  const power = powerOfBytes(bytes)
  return (first, second) => (multiply(power, first) ^ second) >>> 0
}
