/** Big-endian reading and writing of bytes, for the codecs of this package. */

/** Writes numbers and texts into bytes that grow. */
export class ByteWriter {
  #view = new DataView(new ArrayBuffer(256))
  #length = 0

  /** The bytes written so far. */
  get length(): number {
    return this.#length
  }

  /** Writes one byte. */
  uint8(value: number): void {
    const offset = this.#room(1)
    this.#view.setUint8(offset, value)
  }

  /** Writes an unsigned number of 32 bits. */
  uint32(value: number): void {
    const offset = this.#room(4)
    this.#view.setUint32(offset, value)
  }

  /** Writes a number of up to 53 bits, or a fraction. */
  float64(value: number): void {
    const offset = this.#room(8)
    this.#view.setFloat64(offset, value)
  }

  /** Writes an ASCII text of at most 255 characters. */
  text(value: string): void {
    this.uint8(value.length)
    for (let index = 0; index < value.length; index++) this.uint8(value.charCodeAt(index))
  }

  /** Overwrites an unsigned number written before. */
  setUint32(offset: number, value: number): void {
    this.#view.setUint32(offset, value)
  }

  /** What was written, as a copy of its own size. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#view.buffer.slice(0, this.#length))
  }

  #room(bytes: number): number {
    const offset = this.#length
    this.#length += bytes
    if (this.#length > this.#view.byteLength) {
      const larger = new Uint8Array(Math.max(this.#length, this.#view.byteLength * 2))
      larger.set(new Uint8Array(this.#view.buffer))
      this.#view = new DataView(larger.buffer)
    }
    return offset
  }
}

/** Reads what a writer wrote; reading past the end gives zeros and sets `failed`. */
export class ByteReader {
  readonly #view: DataView
  #offset = 0
  failed = false

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Whether everything was read. */
  get atEnd(): boolean {
    return this.#offset === this.#view.byteLength
  }

  /** Reads one byte. */
  uint8(): number {
    return this.#take(1) ? this.#view.getUint8(this.#offset - 1) : 0
  }

  /** Reads an unsigned number of 32 bits. */
  uint32(): number {
    return this.#take(4) ? this.#view.getUint32(this.#offset - 4) : 0
  }

  /** Reads a number of up to 53 bits, or a fraction. */
  float64(): number {
    return this.#take(8) ? this.#view.getFloat64(this.#offset - 8) : 0
  }

  /** Reads a text. */
  text(): string {
    const length = this.uint8()
    let value = ""
    for (let index = 0; index < length; index++) value += String.fromCharCode(this.uint8())
    return value
  }

  #take(bytes: number): boolean {
    if (this.failed || this.#offset + bytes > this.#view.byteLength) {
      this.failed = true
      return false
    }
    this.#offset += bytes
    return true
  }
}
