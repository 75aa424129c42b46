/** Writing the protobuf wire format into bytes whose number is known before. */
import { ensure } from "./assertion.ts"

/** Bytes that an unsigned integer takes. */
export const varintBytes = (value: number): number => {
  let bytes = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes++
  return bytes
}

/** Bytes that a field of that many bytes takes, its tag and its length included. */
export const fieldBytes = (length: number): number => 1 + varintBytes(length) + length

/** Bytes that an integer field takes, its tag included. */
export const integerFieldBytes = (value: number): number => 1 + varintBytes(value)

/** Writes fields one behind the other; what does not fit is a defect of the size computed. */
export class WireWriter {
  readonly bytes: Uint8Array
  offset: number

  constructor(bytes: Uint8Array, start: number) {
    this.bytes = bytes
    this.offset = start
  }

  varint(value: number): void {
    let rest = value
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#byte((rest % 128) | 0x80)
    this.#byte(rest)
  }

  integerField(tag: number, value: number): void {
    this.#byte(tag)
    this.varint(value)
  }

  /** The tag and the length of a field; its bytes are to follow. */
  fieldStart(tag: number, length: number): void {
    this.#byte(tag)
    this.varint(length)
  }

  field(tag: number, value: Uint8Array): void {
    this.fieldStart(tag, value.length)
    this.raw(value)
  }

  raw(value: Uint8Array): void {
    ensure(value.length <= this.bytes.length - this.offset, "an aggregate is larger than computed")
    this.bytes.set(value, this.offset)
    this.offset += value.length
  }

  #byte(value: number): void {
    ensure(this.offset < this.bytes.length, "an aggregate is larger than computed")
    this.bytes[this.offset++] = value
  }
}
