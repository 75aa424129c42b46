/** The reading side of {@link ByteWriter}: bounded, and total through one local exception. */

/** The bytes do not hold what was asked for; caught inside the codec. */
export class ReadFault extends Error {
  override readonly name = "ReadFault"
}

/** Reads bytes and unsigned LEB128 numbers, never past the end. */
export class ByteReader {
  offset = 0
  private readonly buffer: Uint8Array

  constructor(buffer: Uint8Array) {
    this.buffer = buffer
  }

  /** How many bytes are left. */
  get left(): number {
    return this.buffer.length - this.offset
  }

  /** One byte. */
  byte(): number {
    const value = this.buffer[this.offset]
    if (value === undefined) throw new ReadFault("it ends too early")
    this.offset += 1
    return value
  }

  /** A copy of the next bytes. */
  bytes(count: number): Uint8Array {
    if (count > this.left) throw new ReadFault("it ends too early")
    this.offset += count
    return this.buffer.slice(this.offset - count, this.offset)
  }

  /** An unsigned safe integer in LEB128. */
  number(): number {
    const value = this.bigint()
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new ReadFault("a number is too large")
    return Number(value)
  }

  /** An unsigned integer of at most 256 bits in LEB128. */
  bigint(): bigint {
    let value = 0
    let factor = 1
    for (let count = 0; count < 6; count++) {
      const byte = this.byte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return BigInt(value)
      factor *= 128
    }
    let large = BigInt(value)
    for (let shift = 42n; shift < 256n; shift += 7n) {
      const byte = this.byte()
      large |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return large
    }
    throw new ReadFault("a number is too large")
  }

  /** Four bytes, lowest first, as an unsigned number. */
  uint32(): number {
    let value = 0
    for (let shift = 0; shift < 32; shift += 8) value |= this.byte() << shift
    return value >>> 0
  }
}
