/** A byte buffer that grows, and the primitive encodings that the format is built of. */
import { int64ToWords, wordsLow, wordsHigh } from "./words.ts"

/** Bytes up to which a loop is faster than a call. */
const shortCopy = 32

/** An append-only buffer: numbers, byte strings and variable-length integers. */
export class GrowingBytes {
  bytes: Uint8Array
  length = 0

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity)
  }

  /** Makes room for `more` bytes behind the current end. */
  reserve(more: number): void {
    const needed = this.length + more
    if (needed <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }

  byte(value: number): void {
    if (this.length === this.bytes.length) this.reserve(1)
    this.bytes[this.length++] = value
  }

  /** Seven bits a byte, least significant first; `value` is a safe non-negative integer. */
  varint(value: number): void {
    if (this.length + 8 > this.bytes.length) this.reserve(8)
    const bytes = this.bytes
    let rest = value
    while (rest >= 0x80) {
      bytes[this.length++] = (rest % 128) | 0x80
      rest = rest < 0x8000_0000 ? rest >>> 7 : Math.floor(rest / 128)
    }
    bytes[this.length++] = rest
  }

  word32(value: number): void {
    this.reserve(4)
    const bytes = this.bytes
    bytes[this.length++] = value >>> 24
    bytes[this.length++] = value >>> 16
    bytes[this.length++] = value >>> 8
    bytes[this.length++] = value
  }

  /** A signed 64-bit integer, most significant byte first. */
  int64(value: bigint): void {
    int64ToWords(value)
    this.word32(wordsHigh())
    this.word32(wordsLow())
  }

  raw(value: Uint8Array): void {
    const size = value.length
    if (this.length + size > this.bytes.length) this.reserve(size)
    if (size <= shortCopy) {
      const bytes = this.bytes
      let at = this.length
      for (let index = 0; index < size; index++) bytes[at++] = value[index]!
    } else {
      this.bytes.set(value, this.length)
    }
    this.length += size
  }

  /** A part of a byte string. */
  range(value: Uint8Array, start: number, end: number): void {
    const size = end - start
    if (this.length + size > this.bytes.length) this.reserve(size)
    if (size > shortCopy) {
      this.bytes.set(value.subarray(start, end), this.length)
      this.length += size
      return
    }
    const bytes = this.bytes
    let at = this.length
    for (let index = start; index < end; index++) bytes[at++] = value[index]!
    this.length = at
  }

  /** A part of a byte string with a zero byte behind it. */
  closed(value: Uint8Array, start: number, end: number): void {
    if (this.length + end - start >= this.bytes.length) this.reserve(end - start + 1)
    this.range(value, start, end)
    this.bytes[this.length++] = 0
  }

  /** A byte string with its length before it. */
  sized(value: Uint8Array): void {
    this.varint(value.length)
    this.raw(value)
  }

  view(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }
}
