/**
 * A batch: what one write puts into a log or snapshot file.
 *
 *     header, 24 bytes                                             payload
 *     "HJ" | kind 1 | 0 | length 4 | number 8 | payload CRC 4 | header CRC 4 | bytes ...
 *
 * 1. A batch is whole when both checksums are right and its number is the one expected.
 * 2. A batch whose write a power cut has broken ends behind the file's end, or a sector of its
 *    own was never written and reads as zeros: it is torn. Any other difference is damage: a
 *    sector is written whole or not at all, so what is there and wrong was there and right.
 * 3. Only the last batch of a file can be torn, as the next one is written after its sync.
 */
import { crc32 } from "node:zlib"

/** Bytes before a payload. */
export const headerBytes = 24
/** Bytes that a disk writes all or not at all. */
const sectorBytes = 512
/** How every batch begins. */
export const batchMark = Buffer.from("HJ")

/** What a batch holds: who the file is, appended entries, a snapshot's part, or the file's end. */
export type BatchKind = "head" | "entries" | "part" | "end"

const kindNumbers: Readonly<Record<BatchKind, number>> = { head: 1, entries: 2, part: 3, end: 4 }
const kindsByNumber: ReadonlyMap<number, BatchKind> = new Map([
  [1, "head"],
  [2, "entries"],
  [3, "part"],
  [4, "end"]
])

/** A batch that is whole; the payload shares memory with what was read. */
export interface Batch {
  readonly kind: BatchKind
  readonly number: number
  readonly payload: Uint8Array
}

/** What stands in front of a payload. */
export interface BatchHeader {
  readonly kind: BatchKind
  readonly number: number
  readonly length: number
  readonly checksum: number
}

/** Encodes a batch; the pieces of its payload are joined. */
export const encodeBatch = (
  kind: BatchKind,
  number: number,
  pieces: ReadonlyArray<Uint8Array>
): Buffer => {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const bytes = Buffer.allocUnsafe(headerBytes + length)
  let offset = headerBytes
  for (const piece of pieces) {
    bytes.set(piece, offset)
    offset += piece.length
  }
  bytes.set(batchMark, 0)
  bytes.writeUInt8(kindNumbers[kind], 2)
  bytes.writeUInt8(0, 3)
  bytes.writeUInt32BE(length, 4)
  bytes.writeBigUInt64BE(BigInt(number), 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(headerBytes)), 16)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 20)), 20)
  return bytes
}

/** The header at the beginning of `bytes`, or `undefined` where there is no whole one. */
export const decodeHeader = (bytes: Uint8Array): BatchHeader | undefined => {
  if (bytes.length < headerBytes) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, headerBytes)
  if (batchMark.compare(bytes.subarray(0, 2)) !== 0 || view.getUint8(3) !== 0) return undefined
  if (view.getUint32(20) !== crc32(bytes.subarray(0, 20))) return undefined
  const kind = kindsByNumber.get(view.getUint8(2))
  if (kind === undefined) return undefined
  return {
    kind,
    length: view.getUint32(4),
    number: Number(view.getBigUint64(8)),
    checksum: view.getUint32(16)
  }
}

/** Whether a payload is the one that its header was made for. */
export const isPayloadOf = (header: BatchHeader, payload: Uint8Array): boolean =>
  payload.length === header.length && crc32(payload) === header.checksum

/** Whether a sector of `bytes`, which stand at `position` of their file, reads as zeros. */
export const hasEmptySector = (bytes: Uint8Array, position: number): boolean => {
  let start = 0
  while (start < bytes.length) {
    const end = Math.min(bytes.length, start + sectorBytes - ((position + start) % sectorBytes))
    if (bytes.subarray(start, end).every((byte) => byte === 0)) return true
    start = end
  }
  return false
}
