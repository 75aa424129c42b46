/**
 * The format of a chunk file, version 1; all numbers little-endian.
 *
 *     0         header, 72 bytes, then zeros to the end of its page
 *     4096      the chunk's bytes
 *     + length  CRC-32 of each block of 64 KiB, 4 bytes each; the last block may be shorter
 *
 * 1. The header holds its own CRC-32, the CRC-32 of the table and the CRC-32 of all the bytes.
 * 2. A file's size follows from its header; any other size is damage.
 * 3. The header has a page to itself and is written last: a file without it is no copy.
 */
import { crc32 } from "node:zlib"
import type { ChunkDescription } from "@holdfast/storage"

/** Bytes under one checksum. */
export const blockBytes = 64 * 1024
/** Where the chunk's bytes begin. */
export const dataOffset = 4096
/** Bytes of the header that mean something. */
export const headerBytes = 72
/** The largest chunk, as its length is an unsigned 32-bit number. */
export const chunkBytesMax = 0xffff_ffff

const magic = "HOLDFCHK"
const formatVersion = 1

/** A chunk file's header. */
export interface BlockFileHeader extends ChunkDescription {
  /** CRC-32 of the table of block checksums. */
  readonly tableChecksum: number
}

/** How many blocks a chunk of `length` bytes has. */
export const blockCount = (length: number): number => Math.ceil(length / blockBytes)

/** Where the table of block checksums begins. */
export const tableOffset = (length: number): number => dataOffset + length

/** The size of the whole file of a chunk of `length` bytes. */
export const fileBytes = (length: number): number => dataOffset + length + 4 * blockCount(length)

/**
 * The chunk's length in a file of `size` bytes; the inverse of {@link fileBytes}, never negative.
 */
export const lengthOfFile = (size: number): number => {
  const rest = Math.max(0, size - dataOffset)
  return Math.max(0, rest - 4 * Math.ceil(rest / (blockBytes + 4)))
}

const view = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Encodes a header's page. */
export const encodeHeader = (header: BlockFileHeader): Uint8Array => {
  const bytes = new Uint8Array(dataOffset)
  const fields = view(bytes)
  bytes.set(new TextEncoder().encode(magic))
  fields.setUint32(8, formatVersion, true)
  fields.setUint32(12, blockBytes, true)
  fields.setBigUint64(16, BigInt(header.fileId), true)
  fields.setBigUint64(24, BigInt(header.version), true)
  fields.setUint32(32, header.chunkId, true)
  fields.setUint32(36, header.length, true)
  fields.setUint32(40, header.checksum, true)
  fields.setUint32(44, header.tableChecksum, true)
  fields.setUint32(headerBytes - 4, crc32(bytes.subarray(0, headerBytes - 4)), true)
  return bytes
}

/** Decodes a header, or says in words what is wrong with it. */
export const decodeHeader = (bytes: Uint8Array): BlockFileHeader | string => {
  if (bytes.length < headerBytes) return `the header ends after ${bytes.length} bytes`
  const fields = view(bytes)
  const found = new TextDecoder("latin1").decode(bytes.subarray(0, 8))
  if (found !== magic) return "the header does not begin as that of a chunk file"
  const checksum = crc32(bytes.subarray(0, headerBytes - 4))
  if (fields.getUint32(headerBytes - 4, true) !== checksum) return "the header's checksum is wrong"
  if (fields.getUint32(8, true) !== formatVersion) {
    return `format version ${fields.getUint32(8, true)} is unknown, ${formatVersion} is known`
  }
  if (fields.getUint32(12, true) !== blockBytes) {
    return `blocks of ${fields.getUint32(12, true)} bytes are unknown, ${blockBytes} are known`
  }
  return {
    fileId: Number(fields.getBigUint64(16, true)),
    version: Number(fields.getBigUint64(24, true)),
    chunkId: fields.getUint32(32, true),
    length: fields.getUint32(36, true),
    checksum: fields.getUint32(40, true),
    tableChecksum: fields.getUint32(44, true)
  }
}

/** Encodes the table of block checksums. */
export const encodeTable = (checksums: Uint32Array): Uint8Array => {
  const bytes = new Uint8Array(4 * checksums.length)
  const fields = view(bytes)
  checksums.forEach((checksum, index) => fields.setUint32(4 * index, checksum, true))
  return bytes
}

/** Decodes a table, or a slice of one. */
export const decodeTable = (bytes: Uint8Array): Uint32Array => {
  const fields = view(bytes)
  return Uint32Array.from({ length: bytes.length >>> 2 }, (_, index) =>
    fields.getUint32(4 * index, true)
  )
}
