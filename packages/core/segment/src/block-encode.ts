/**
 * The writer's half of a block: records taken apart into columns.
 *
 *     flags, count, length of each column | positions | parts | times | subjects | lengths |
 *     headers | side bytes | payloads
 *
 * A column holds one thing of every record in record order, so that a compressor finds like beside
 * like and a decoder runs one tight loop for each. The layout, column by column:
 * - positions: difference to the one before (the first, 0, to the first position that the index
 *   names), as a variable-length integer; in a wide block a length and big-endian bytes.
 * - parts: present if any is not 0. One integer each.
 * - times: the first as 8 bytes, then zigzag differences; in a wide block 8 bytes each.
 * - subjects: a dictionary number, or 0 and a length, the bytes being in the side column.
 * - lengths: bytes of each payload.
 * - headers: present if any record has some: how many, then for each a name as in the subjects
 *   and the length of the value, whose bytes are in the side column.
 * - payloads: one behind the other; or, where they are JSON of few shapes, shredded, and then there
 *   are no lengths.
 */
import type { ByteDictionary } from "./dictionary.ts"
import { GrowingBytes } from "./growing-bytes.ts"
import { Shredder } from "./payload-shred.ts"
import type { NewRecord } from "./record.ts"
import {
  compactDifferenceMax,
  int64ToWords,
  uint64Max,
  uint64ToWords,
  wideToBytes,
  wordsHigh,
  wordsHighSigned,
  wordsLow,
  wordWeight
} from "./words.ts"

/** Bits of a block's first byte. */
export const blockFlag = {
  parts: 1,
  headers: 2,
  widePositions: 4,
  wideTimes: 8,
  shredded: 16
} as const
/** Every bit that has a meaning. */
export const blockFlagsKnown = 31

/** Bytes reserved for payloads from the start, at most. */
const blockBytesReserved = 1_048_576

/** What the index says of one block beside where it is. */
export interface BlockFacts {
  readonly count: number
  readonly first: bigint
  readonly last: bigint
  readonly timeMin: bigint
  readonly timeMax: bigint
}

/** The open block of a builder: one at a time, cleared and used again. */
export class BlockColumns {
  readonly #dictionary: ByteDictionary
  readonly #positions = new GrowingBytes(16_384)
  readonly #parts = new GrowingBytes(16_384)
  readonly #times = new GrowingBytes(16_384)
  readonly #subjects = new GrowingBytes(16_384)
  readonly #lengths = new GrowingBytes(16_384)
  #lengthList: Array<number> = []
  readonly #headers = new GrowingBytes(16_384)
  readonly #side = new GrowingBytes(16_384)
  readonly #data: GrowingBytes
  readonly #shredder = new Shredder()
  #count = 0
  #first = 0n
  #last = 0n
  #lastHigh = 0
  #lastLow = 0
  #timeMin = 0n
  #timeMax = 0n
  #timeHigh = 0
  #timeLow = 0
  #anyPart = false
  #anyHeader = false
  #widePositions = false
  #wideTimes = false
  #startWidePositions = false
  #startWideTimes = false

  constructor(options: { readonly dictionary: ByteDictionary; readonly blockBytes: number }) {
    this.#dictionary = options.dictionary
    this.#data = new GrowingBytes(Math.min(options.blockBytes, blockBytesReserved))
  }

  get count(): number {
    return this.#count
  }

  /** Bytes that the block takes before compression, but for a few at its head. */
  get bytes(): number {
    return (
      this.#data.length +
      this.#side.length +
      this.#headers.length +
      this.#lengths.length +
      this.#subjects.length +
      this.#times.length +
      this.#parts.length +
      this.#positions.length
    )
  }

  /**
   * Takes a record, or answers false when its position or time cannot stand beside those already
   * here: the caller then closes the block and starts one that begins with this record.
   */
  append(record: NewRecord): boolean {
    if (this.#count === 0) this.#start(record)
    else if (!this.#continue(record)) return false
    this.#count++
    this.#last = record.position
    const { part = 0 } = record
    if (part !== 0) this.#anyPart = true
    this.#parts.varint(part)
    this.#subjectColumn(record.subject)
    this.#headersColumn(record)
    this.#lengths.varint(record.data.length)
    this.#lengthList.push(record.data.length)
    this.#data.raw(record.data)
    return true
  }

  /** The raw block and its facts; the columns are empty afterwards. */
  close(): { readonly raw: Uint8Array; readonly facts: BlockFacts } {
    const facts: BlockFacts = {
      count: this.#count,
      first: this.#first,
      last: this.#last,
      timeMin: this.#timeMin,
      timeMax: this.#timeMax
    }
    if (!this.#anyPart) this.#parts.clear()
    if (!this.#anyHeader) this.#headers.clear()
    const shredded = this.#shredder.shred(this.#data.view(), this.#lengthList)
    if (shredded !== undefined) this.#lengths.clear()
    const columns = [
      this.#positions.view(),
      this.#parts.view(),
      this.#times.view(),
      this.#subjects.view(),
      this.#lengths.view(),
      this.#headers.view(),
      this.#side.view(),
      shredded ?? this.#data.view()
    ]
    const head = new GrowingBytes(64)
    head.byte(
      (this.#anyPart ? blockFlag.parts : 0) |
        (this.#anyHeader ? blockFlag.headers : 0) |
        (this.#widePositions ? blockFlag.widePositions : 0) |
        (this.#wideTimes ? blockFlag.wideTimes : 0) |
        (shredded === undefined ? 0 : blockFlag.shredded)
    )
    head.varint(this.#count)
    for (const column of columns) head.varint(column.length)
    const raw = new Uint8Array(columns.reduce((sum, column) => sum + column.length, head.length))
    raw.set(head.view())
    let offset = head.length
    for (const column of columns) {
      raw.set(column, offset)
      offset += column.length
    }
    this.#clear()
    return { raw, facts }
  }

  #clear(): void {
    for (const column of [
      this.#positions,
      this.#parts,
      this.#times,
      this.#subjects,
      this.#lengths,
      this.#headers,
      this.#side,
      this.#data
    ]) {
      column.clear()
    }
    this.#lengthList = []
    this.#count = 0
    this.#anyPart = false
    this.#anyHeader = false
  }

  #start(record: NewRecord): void {
    const { position, timestamp } = record
    this.#first = position
    this.#widePositions = this.#startWidePositions || position > uint64Max
    this.#positions.varint(0)
    if (!this.#widePositions) {
      uint64ToWords(position)
      this.#lastHigh = wordsHigh()
      this.#lastLow = wordsLow()
    }
    this.#wideTimes = this.#startWideTimes
    this.#startWidePositions = false
    this.#startWideTimes = false
    this.#timeMin = timestamp
    this.#timeMax = timestamp
    this.#times.int64(timestamp)
    int64ToWords(timestamp)
    this.#timeHigh = wordsHighSigned()
    this.#timeLow = wordsLow()
  }

  #continue(record: NewRecord): boolean {
    const { position, timestamp } = record
    if (!this.#widePositions) {
      if (position > uint64Max) return this.#refusePosition()
      uint64ToWords(position)
      const high = wordsHigh()
      const low = wordsLow()
      const difference = (high - this.#lastHigh) * wordWeight + (low - this.#lastLow)
      if (difference > compactDifferenceMax) return this.#refusePosition()
      if (!this.#time(timestamp)) return false
      this.#lastHigh = high
      this.#lastLow = low
      this.#positions.varint(difference)
      return true
    }
    if (!this.#time(timestamp)) return false
    this.#positions.sized(wideToBytes(position - this.#last))
    return true
  }

  #refusePosition(): boolean {
    this.#startWidePositions = true
    return false
  }

  #time(timestamp: bigint): boolean {
    if (this.#wideTimes) {
      this.#times.int64(timestamp)
    } else {
      int64ToWords(timestamp)
      const high = wordsHighSigned()
      const low = wordsLow()
      const difference = (high - this.#timeHigh) * wordWeight + (low - this.#timeLow)
      if (Math.abs(difference) > compactDifferenceMax) {
        this.#startWideTimes = true
        return false
      }
      this.#times.varint(difference >= 0 ? difference * 2 : -difference * 2 - 1)
      this.#timeHigh = high
      this.#timeLow = low
    }
    if (timestamp < this.#timeMin) this.#timeMin = timestamp
    else if (timestamp > this.#timeMax) this.#timeMax = timestamp
    return true
  }

  #subjectColumn(subject: Uint8Array): void {
    const reference = this.#dictionary.reference(subject)
    this.#subjects.varint(reference)
    if (reference !== 0) return
    this.#subjects.varint(subject.length)
    this.#side.raw(subject)
  }

  #headersColumn(record: NewRecord): void {
    const { headers } = record
    this.#headers.varint(headers.length)
    if (headers.length === 0) return
    this.#anyHeader = true
    for (let index = 0; index < headers.length; index++) {
      const [name, value] = headers[index]!
      const reference = this.#dictionary.reference(name)
      this.#headers.varint(reference)
      if (reference === 0) {
        this.#headers.varint(name.length)
        this.#side.raw(name)
      }
      this.#headers.varint(value.length)
      this.#side.raw(value)
    }
  }
}
