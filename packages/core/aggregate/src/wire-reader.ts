/**
 * Reading the protobuf wire format, as far as three messages need it, from hostile bytes.
 *
 * The first fault sticks: it stands in `fault` with its offset in `faultAt`, and moves the reader
 * to the end of the range that it is in, so that the loop over its fields ends. The caller looks
 * at `fault` behind its loop. A field that is not known is skipped, groups included.
 */
import type { PlainReason } from "./plain.ts"

/** Groups within groups that are skipped; the reference implementations stop at 100 as well. */
const groupDepthMax = 100
const varintBytesMax = 10
const tagMax = 0xffff_ffff

/** A cursor over a range of bytes. */
export class WireReader {
  readonly bytes: Uint8Array
  offset: number
  end: number
  fault: PlainReason | undefined = undefined
  faultAt = 0

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes
    this.offset = start
    this.end = end
  }

  /** Notes the first fault and goes to the end of the range. */
  fail(fault: PlainReason, at: number): void {
    if (this.fault === undefined) {
      this.fault = fault
      this.faultAt = at
    }
    this.offset = this.end
  }

  /** An unsigned integer; above 2^53 it is rounded, which is far beyond any index or length. */
  varint(): number {
    const start = this.offset
    let value = 0
    let weight = 1
    for (let taken = 0; taken < varintBytesMax; taken++) {
      if (this.offset >= this.end) {
        this.fail("Truncated", start)
        return 0
      }
      const byte = this.bytes[this.offset++]!
      value += (byte & 0x7f) * weight
      if (byte < 0x80) return value
      weight *= 128
    }
    this.fail("VarintTooLong", start)
    return 0
  }

  /** The tag of the next field: eight times its number, and its wire type. */
  tag(): number {
    const start = this.offset
    const tag = this.varint()
    if ((tag < 8 || tag > tagMax) && this.fault === undefined) this.fail("FieldNumber", start)
    return tag
  }

  /** A length; 0 and a fault when that many bytes do not follow. */
  length(): number {
    const start = this.offset
    const length = this.varint()
    if (length <= this.end - this.offset) return length
    this.fail("Truncated", start)
    return 0
  }

  /** Passes over the value of a field that is not known. */
  skip(tag: number, depth = 0): void {
    const start = this.offset
    switch (tag % 8) {
      case 0:
        this.varint()
        return
      case 1:
        this.#advance(8)
        return
      case 2:
        this.#advance(this.length())
        return
      case 3:
        this.#skipGroup(tag + 1, depth)
        return
      case 4:
        this.fail("GroupEnd", start)
        return
      case 5:
        this.#advance(4)
        return
      default:
        this.fail("WireType", start)
    }
  }

  #skipGroup(endTag: number, depth: number): void {
    const start = this.offset
    if (depth >= groupDepthMax) {
      this.fail("GroupDepth", start)
      return
    }
    while (this.offset < this.end) {
      const tag = this.tag()
      if (tag === endTag || this.fault !== undefined) return
      this.skip(tag, depth + 1)
    }
    this.fail("Truncated", start)
  }

  #advance(length: number): void {
    if (length > this.end - this.offset) this.fail("Truncated", this.offset)
    else this.offset += length
  }
}
