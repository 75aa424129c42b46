/** Reading what `GrowingBytes` wrote, with every length checked. */
import { wideFromBytes, wordsToInt64 } from "./words.ts"

/** Bytes of a wide integer at most: 256 bits. */
const wideBytesMax = 32

/**
 * A cursor over bytes that may be hostile.
 *
 * The first read that does not fit sets `failed`, and every later read answers zero or nothing; the
 * caller looks at `failed` where it matters, at the latest at the end.
 */
export class ByteCursor {
  readonly bytes: Uint8Array
  offset: number
  readonly end: number
  failed = false

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes
    this.offset = start
    this.end = end
  }

  get remaining(): number {
    return this.end - this.offset
  }

  /** True when everything was read and nothing failed. */
  get finished(): boolean {
    return !this.failed && this.offset === this.end
  }

  #fail(): void {
    this.failed = true
    this.offset = this.end
  }

  byte(): number {
    if (this.offset >= this.end) {
      this.#fail()
      return 0
    }
    return this.bytes[this.offset++]!
  }

  varint(): number {
    let value = 0
    let weight = 1
    for (let taken = 0; taken < 8; taken++) {
      if (this.offset >= this.end) break
      const byte = this.bytes[this.offset++]!
      value += (byte & 0x7f) * weight
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break
        return value
      }
      weight *= 128
    }
    this.#fail()
    return 0
  }

  word32(): number {
    if (this.remaining < 4) {
      this.#fail()
      return 0
    }
    const bytes = this.bytes
    const at = this.offset
    this.offset += 4
    const low = (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
    return bytes[at]! * 0x100_0000 + low
  }

  int64(): bigint {
    const high = this.word32()
    return wordsToInt64(high, this.word32())
  }

  raw(length: number): Uint8Array {
    if (length > this.remaining) {
      this.#fail()
      return new Uint8Array(0)
    }
    const start = this.offset
    this.offset += length
    return this.bytes.subarray(start, this.offset)
  }

  sized(): Uint8Array {
    return this.raw(this.varint())
  }

  /** A non-negative integer of up to 256 bits. */
  wide(): bigint {
    const length = this.varint()
    if (length > wideBytesMax) {
      this.#fail()
      return 0n
    }
    return wideFromBytes(this.raw(length))
  }
}

/**
 * Reads `count` variable-length integers that fill `start` to `end` exactly.
 *
 * Answers false where they do not: a value runs over the end, is not a safe integer, or bytes are
 * left over.
 */
export const readVarints = (
  bytes: Uint8Array,
  range: { readonly start: number; readonly end: number; readonly count: number },
  into: Float64Array
): boolean => {
  const { count, end } = range
  let offset = range.start
  if (end - offset < count) return false
  for (let index = 0; index < count; index++) {
    if (offset >= end) return false
    let byte = bytes[offset++]!
    let value = byte & 0x7f
    let weight = 128
    while (byte >= 0x80) {
      if (offset >= end || weight > 562_949_953_421_312) return false
      byte = bytes[offset++]!
      value += (byte & 0x7f) * weight
      weight *= 128
    }
    if (value > Number.MAX_SAFE_INTEGER) return false
    into[index] = value
  }
  return offset === end
}
