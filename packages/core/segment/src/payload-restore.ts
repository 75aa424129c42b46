/** Shredded payloads put together again; see `payload-shred.ts` for the layout. */
import { ByteCursor, readVarints } from "./byte-cursor.ts"
import { templateBytesMax, templatesMax, templateSlotsMax } from "./payload-shred.ts"

/** Bytes up to which a loop is faster than a call. */
const shortCopy = 32

/** Payloads one behind the other, as a plain block has them. */
export interface Payloads {
  readonly data: Uint8Array
  readonly lengths: Float64Array
}

interface Template {
  /** What stands before each place, and behind the last. */
  readonly pieces: ReadonlyArray<Uint8Array>
  readonly columns: ReadonlyArray<ByteCursor>
}

const splitTemplate = (template: Uint8Array): ReadonlyArray<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  let start = 0
  for (let at = template.indexOf(0); at >= 0; at = template.indexOf(0, start)) {
    pieces.push(template.subarray(start, at))
    start = at + 1
  }
  pieces.push(template.subarray(start))
  return pieces
}

const readTemplates = (
  cursor: ByteCursor
): ReadonlyArray<ReadonlyArray<Uint8Array>> | undefined => {
  const count = cursor.varint()
  if (count > templatesMax) return undefined
  const templates: Array<ReadonlyArray<Uint8Array>> = []
  while (templates.length < count && !cursor.failed) {
    const template = cursor.sized()
    if (template.length > templateBytesMax) return undefined
    const pieces = splitTemplate(template)
    if (pieces.length > templateSlotsMax + 1) return undefined
    templates.push(pieces)
  }
  return cursor.failed ? undefined : templates
}

const readReferences = (cursor: ByteCursor, count: number): Float64Array | undefined => {
  const references = cursor.sized()
  const into = new Float64Array(count)
  const range = { start: 0, end: references.length, count }
  return readVarints(references, range, into) ? into : undefined
}

/** Copies into `data` from `at`; the new end, or -1 where it does not fit. */
const copy = (data: Uint8Array, at: number, piece: Uint8Array): number => {
  const { length } = piece
  if (length > data.length - at) return -1
  if (length > shortCopy) {
    data.set(piece, at)
    return at + length
  }
  for (let index = 0; index < length; index++) data[at + index] = piece[index]!
  return at + length
}

/** Copies a column's next value; the new end, or -1 where there is none or no room. */
const copyValue = (data: Uint8Array, from: number, column: ByteCursor): number => {
  const { bytes, end } = column
  const short = Math.min(end, column.offset + shortCopy, column.offset + data.length - from)
  let at = from
  let offset = column.offset
  while (offset < short) {
    const byte = bytes[offset++]!
    if (byte === 0) {
      column.offset = offset
      return at
    }
    data[at++] = byte
  }
  const close = bytes.indexOf(0, offset)
  if (close < 0 || close >= end || close - offset > data.length - at) return -1
  data.set(bytes.subarray(offset, close), at)
  column.offset = close + 1
  return at + close - offset
}

const putTogether = (data: Uint8Array, from: number, { columns, pieces }: Template): number => {
  let at = copy(data, from, pieces[0]!)
  for (let slot = 0; slot < columns.length && at >= 0; slot++) {
    at = copyValue(data, at, columns[slot]!)
    if (at >= 0) at = copy(data, at, pieces[slot + 1]!)
  }
  return at
}

/**
 * The payloads of a shredded block of `count` records, or undefined when it is malformed or would
 * have more than `bytesMax` bytes. O(bytes in and out).
 */
export const restorePayloads = (
  cursor: ByteCursor,
  count: number,
  bytesMax: number
): Payloads | undefined => {
  const bytes = cursor.varint()
  if (cursor.failed || bytes > bytesMax) return undefined
  const templatePieces = readTemplates(cursor)
  const references = readReferences(cursor, count)
  if (templatePieces === undefined || references === undefined) return undefined
  const templates = templatePieces.map((pieces): Template => {
    const columns = Array.from({ length: pieces.length - 1 }, () => new ByteCursor(cursor.sized()))
    return { pieces, columns }
  })
  const plainLengths = new ByteCursor(cursor.sized())
  const data = new Uint8Array(bytes)
  const lengths = new Float64Array(count)
  let at = 0
  for (let index = 0; index < count; index++) {
    const reference = references[index]!
    const start = at
    if (reference === 0) {
      at = copy(data, at, cursor.raw(plainLengths.varint()))
    } else {
      const template = templates[reference - 1]
      if (template === undefined) return undefined
      at = putTogether(data, at, template)
    }
    if (at < 0) return undefined
    lengths[index] = at - start
  }
  const isRead =
    at === bytes &&
    cursor.finished &&
    plainLengths.finished &&
    templates.every(({ columns }) => columns.every((column) => column.finished))
  return isRead ? { data, lengths } : undefined
}
