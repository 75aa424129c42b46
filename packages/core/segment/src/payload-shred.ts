/**
 * JSON payloads taken apart: the same keys once, and like values beside like.
 *
 *     {"delay":14,"origin":"ABQ"}      template   {"delay":·,"origin":"·"}
 *     {"delay":-6,"origin":"JFK"}      columns    14 · -6 ·        ABQ · JFK ·
 *
 * A template is a payload with its numbers and the insides of its string values replaced by a zero
 * byte; what was replaced stands in one column for each place, each value closed by a zero byte.
 * Putting it together again gives the payload byte for byte, whether it is valid JSON or not: the
 * scan decides only where to cut. A payload that does not begin as JSON does, or for which there is
 * no template any more, is kept as it is; a block in which a zero byte occurs is not shredded.
 *
 *     payload bytes, templates | reference of each record | columns, template by template |
 *     lengths of plain payloads | plain payloads            each but the last with its length
 */
import { ByteDictionary } from "./dictionary.ts"
import { GrowingBytes } from "./growing-bytes.ts"

/** Templates in one block at most. */
export const templatesMax = 255
/** Bytes of a template at most. */
export const templateBytesMax = 4_096
/** Places in a template at most. */
export const templateSlotsMax = 256
/** Shredded payloads must be this much smaller than plain ones to be worth it. */
const worthwhile = 0.95

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const minus = 0x2d

/** A template under construction and where it cuts: scratch, used again for each record. */
class Cut {
  readonly template = new Uint8Array(templateBytesMax)
  readonly starts = new Uint32Array(templateSlotsMax)
  readonly ends = new Uint32Array(templateSlotsMax)
  length = 0
  slots = 0

  /** Marks a place whose value is cut out. */
  slot(start: number, end: number): void {
    this.starts[this.slots] = start
    this.ends[this.slots++] = end
    this.template[this.length++] = 0
  }

  get hasRoom(): boolean {
    return this.length < templateBytesMax - 3 && this.slots < templateSlotsMax
  }
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** Digits, `-`, `+`, `.`, `e`, `E`. */
const isNumberByte = (byte: number): boolean =>
  isDigit(byte) || byte === minus || byte === 0x2b || byte === 0x2e || (byte | 0x20) === 0x65

/** The index of the quote that ends the string begun before `from`, or `end`. */
const stringEnd = (data: Uint8Array, from: number, end: number): number => {
  let at = from
  while (at < end) {
    const byte = data[at]!
    if (byte === quote) return at
    at += byte === backslash ? 2 : 1
  }
  return end
}

const isKey = (data: Uint8Array, after: number, end: number): boolean => {
  let at = after
  while (at < end && data[at]! <= 0x20) at++
  return at < end && data[at] === colon
}

/** Cuts the payload from `start` to `end`; false when it has to stay as it is. */
const cutPayload = (
  data: Uint8Array,
  { end, start }: { readonly start: number; readonly end: number },
  cut: Cut
): boolean => {
  const first = start < end ? data[start] : 0
  if (first !== 0x7b && first !== 0x5b) return false
  cut.length = 0
  cut.slots = 0
  let at = start
  while (at < end) {
    if (!cut.hasRoom) return false
    const byte = data[at]!
    if (byte === quote) {
      const close = stringEnd(data, at + 1, end)
      if (close >= end) return false
      if (isKey(data, close + 1, end)) {
        if (cut.length + close - at >= templateBytesMax - 3) return false
        while (at <= close) cut.template[cut.length++] = data[at++]!
      } else {
        cut.template[cut.length++] = quote
        cut.slot(at + 1, close)
        cut.template[cut.length++] = quote
        at = close + 1
      }
    } else if (isDigit(byte) || byte === minus) {
      const from = at
      while (at < end && isNumberByte(data[at]!)) at++
      cut.slot(from, at)
    } else {
      cut.template[cut.length++] = byte
      at++
    }
  }
  return true
}

/** Payloads that are looked at before a block counts as none of JSON. */
const sampled = 16

/**
 * Shreds the payloads of one block after the other. Its buffers are used again: what it answers is
 * good until the next call.
 */
export class Shredder {
  readonly #cut = new Cut()
  readonly #pool: Array<GrowingBytes> = []
  #pooled = 0
  readonly #references = new GrowingBytes(4_096)
  readonly #plainLengths = new GrowingBytes(256)
  readonly #plain = new GrowingBytes(256)
  readonly #into = new GrowingBytes(4_096)

  /**
   * The payloads shredded, or undefined when that is not possible or not worth it.
   *
   * `data` holds the payloads one behind the other, `lengths` their lengths. O(bytes).
   */
  shred(data: Uint8Array, lengths: ReadonlyArray<number>): Uint8Array | undefined {
    if (!looksLikeJson(data, lengths) || data.includes(0)) return undefined
    const templates = new ByteDictionary({
      entriesMax: templatesMax,
      entryBytesMax: templateBytesMax
    })
    const columns = this.#columns(data, lengths, templates)
    const into = this.#into
    into.clear()
    into.varint(data.length)
    into.varint(templates.entries.length)
    for (const template of templates.entries) into.sized(template)
    into.sized(this.#references.view())
    for (const column of columns) for (const place of column) into.sized(place.view())
    into.sized(this.#plainLengths.view())
    into.raw(this.#plain.view())
    return into.length < data.length * worthwhile ? into.view() : undefined
  }

  #columns(
    data: Uint8Array,
    lengths: ReadonlyArray<number>,
    templates: ByteDictionary
  ): ReadonlyArray<ReadonlyArray<GrowingBytes>> {
    const columns: Array<ReadonlyArray<GrowingBytes>> = []
    const cut = this.#cut
    this.#pooled = 0
    for (const buffer of [this.#references, this.#plainLengths, this.#plain]) buffer.clear()
    let start = 0
    for (let index = 0; index < lengths.length; index++) {
      const end = start + lengths[index]!
      const isCut = cutPayload(data, { start, end }, cut)
      const reference = isCut ? templates.reference(cut.template.subarray(0, cut.length)) : 0
      this.#references.varint(reference)
      if (reference === 0) {
        this.#plainLengths.varint(end - start)
        this.#plain.range(data, start, end)
      } else {
        const places = (columns[reference - 1] ??= this.#buffers(cut.slots))
        for (let slot = 0; slot < cut.slots; slot++) {
          places[slot]!.closed(data, cut.starts[slot]!, cut.ends[slot]!)
        }
      }
      start = end
    }
    return columns
  }

  #buffers(count: number): ReadonlyArray<GrowingBytes> {
    return Array.from({ length: count }, () => {
      const buffer = (this.#pool[this.#pooled++] ??= new GrowingBytes(1_024))
      buffer.clear()
      return buffer
    })
  }
}

const looksLikeJson = (data: Uint8Array, lengths: ReadonlyArray<number>): boolean => {
  let start = 0
  for (let index = 0; index < Math.min(sampled, lengths.length); index++) {
    const first = lengths[index] === 0 ? 0 : data[start]
    if (first === 0x7b || first === 0x5b) return true
    start += lengths[index]!
  }
  return false
}
