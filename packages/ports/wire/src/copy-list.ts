/**
 * Packed lists of chunk copies: what full device reports carry, in parts.
 *
 *     each copy, 28 bytes, big-endian:
 *     file id f64 | chunk id u32 | version f64 | length u32 | checksum u32
 */
import { Option } from "effect"

/** One copy in a report. */
export interface ReportedCopy {
  readonly fileId: number
  readonly chunkId: number
  readonly version: number
  readonly length: number
  readonly checksum: number
}

/** Bytes of one packed copy. */
export const copyBytes = 28

/** The most copies in one part of a report. */
export const reportPartCopiesMax = 10_000

/** Packs copies in the given order. */
export const encodeCopies = (copies: ReadonlyArray<ReportedCopy>): Uint8Array => {
  const view = new DataView(new ArrayBuffer(copies.length * copyBytes))
  let offset = 0
  for (const copy of copies) {
    view.setFloat64(offset, copy.fileId)
    view.setUint32(offset + 8, copy.chunkId)
    view.setFloat64(offset + 12, copy.version)
    view.setUint32(offset + 20, copy.length)
    view.setUint32(offset + 24, copy.checksum)
    offset += copyBytes
  }
  return new Uint8Array(view.buffer)
}

/** Unpacks copies; none when the length or an identifier is impossible. */
export const decodeCopies = (bytes: Uint8Array): Option.Option<ReadonlyArray<ReportedCopy>> => {
  if (bytes.length % copyBytes !== 0) return Option.none()
  if (bytes.length / copyBytes > reportPartCopiesMax) return Option.none()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const copies: Array<ReportedCopy> = []
  for (let offset = 0; offset < bytes.length; offset += copyBytes) {
    const fileId = view.getFloat64(offset)
    const version = view.getFloat64(offset + 12)
    if (!isPositiveInteger(fileId) || !isPositiveInteger(version)) return Option.none()
    copies.push({
      fileId,
      chunkId: view.getUint32(offset + 8),
      version,
      length: view.getUint32(offset + 20),
      checksum: view.getUint32(offset + 24)
    })
  }
  return Option.some(copies)
}

const isPositiveInteger = (value: number): boolean => Number.isSafeInteger(value) && value >= 1
