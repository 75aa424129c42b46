/** Bytes in the making: a growing buffer with the variable-length numbers of the map codec. */

/** Appends bytes and unsigned LEB128 numbers; the buffer doubles when it is full. */
export class ByteWriter {
  length = 0
  private buffer = new Uint8Array(256)

  /** Appends one byte. */
  byte(value: number): void {
    if (this.length === this.buffer.length) this.grow(1)
    this.buffer[this.length++] = value
  }

  /** Appends bytes as they are. */
  bytes(values: Uint8Array): void {
    if (this.length + values.length > this.buffer.length) this.grow(values.length)
    this.buffer.set(values, this.length)
    this.length += values.length
  }

  /** Appends an unsigned safe integer, seven bits a byte, lowest first. */
  number(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.byte((rest % 128) | 0x80)
      rest = Math.floor(rest / 128)
    }
    this.byte(rest)
  }

  /** Appends an unsigned integer of any size in the same form. */
  bigint(value: bigint): void {
    let rest = value
    while (rest > largestSafe) {
      this.byte(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.number(Number(rest))
  }

  /** Appends four bytes, lowest first. */
  uint32(value: number): void {
    for (let shift = 0; shift < 32; shift += 8) this.byte((value >>> shift) & 0xff)
  }

  /** Drops what was written after a length. */
  truncate(length: number): void {
    this.length = length
  }

  /** A copy of what was written. */
  toBytes(): Uint8Array {
    return this.buffer.slice(0, this.length)
  }

  private grow(by: number): void {
    const larger = new Uint8Array(Math.max(this.buffer.length * 2, this.length + by))
    larger.set(this.buffer.subarray(0, this.length))
    this.buffer = larger
  }
}

const largestSafe = BigInt(Number.MAX_SAFE_INTEGER)

/** FNV-1a of 32 bits: tells a damaged map from a sound one; it is no defence against a forger. */
export const fingerprint = (bytes: Uint8Array): number => {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
