/**
 * Reads chunk files: the header against the name and the size, ranges by blocks, and the whole.
 *
 * 1. No byte of a block leaves before the block's checksum was right.
 * 2. A range reads the blocks it touches and their entries of the table, nothing else.
 * 3. Damage is a {@link BlockFileDamage}; a failed call keeps its own error: the two never mix.
 */
import { crc32 } from "node:zlib"
import type { ByteRange, ChunkDescription, ChunkName } from "@holdfast/storage"
import {
  type BlockFileHeader,
  blockBytes,
  blockCount,
  dataOffset,
  decodeHeader,
  decodeTable,
  fileBytes,
  headerBytes,
  tableOffset
} from "./block-file-format.ts"
import type { DiskFile } from "./chunk-device-disk.ts"

/** Blocks that are read in one call. */
const blocksPerPiece = 8
/** Pieces read ahead of the one that is asked for. */
const aheadMax = 2

/** The bytes on the disk are not those that were written. */
export class BlockFileDamage extends Error {}

/** Reads and checks a file's header; throws {@link BlockFileDamage}. */
export const readHeader = async (file: DiskFile, chunk: ChunkName): Promise<BlockFileHeader> => {
  const bytes = new Uint8Array(headerBytes)
  const count = await file.read(bytes, 0)
  const header = decodeHeader(bytes.subarray(0, count))
  if (typeof header === "string") throw new BlockFileDamage(header)
  const isNamed =
    header.fileId === chunk.fileId &&
    header.chunkId === chunk.chunkId &&
    header.version === chunk.version
  if (!isNamed) {
    const { fileId, chunkId, version } = header
    throw new BlockFileDamage(`the header says chunk ${fileId}/${chunkId} version ${version}`)
  }
  const size = await file.size()
  if (size !== fileBytes(header.length)) {
    throw new BlockFileDamage(
      `the file has ${size} bytes, its header says ${fileBytes(header.length)}`
    )
  }
  return header
}

/** What a header says of the chunk. */
export const describeHeader = (header: BlockFileHeader): ChunkDescription => ({
  fileId: header.fileId,
  chunkId: header.chunkId,
  version: header.version,
  length: header.length,
  checksum: header.checksum
})

const readExactly = async (file: DiskFile, target: Uint8Array, position: number) => {
  const count = await file.read(target, position)
  if (count !== target.length) throw new BlockFileDamage(`the file ends at ${position + count}`)
  return target
}

const checkBlocks = (piece: Uint8Array, checksums: Uint32Array, firstBlock: number) => {
  for (let index = 0; index * blockBytes < piece.length; index += 1) {
    const block = piece.subarray(index * blockBytes, (index + 1) * blockBytes)
    if (crc32(block) !== checksums[index]) {
      throw new BlockFileDamage(`the checksum of block ${firstBlock + index} is wrong`)
    }
  }
}

/** Verified pieces of a range, in order. */
export interface PieceReader {
  /** The next piece, or nothing after the last. */
  readonly next: () => Promise<Uint8Array | undefined>
}

/** A settled read, kept as a value so that a piece read ahead never rejects unseen. */
type Settled =
  | { readonly ok: true; readonly piece: Uint8Array }
  | { readonly ok: false; readonly cause: unknown }

/** Memory for the next piece, which a read fills: zeros would be written for nothing. */
type Allocate = (bytes: number) => Uint8Array

/**
 * Memory for pieces of a chunk that are looked at and dropped: the one in use and those read ahead.
 */
const turningBuffers = (chunkBytes: number): Allocate => {
  const pieceBytes = Math.min(chunkBytes, blocksPerPiece * blockBytes)
  const pieces = pieceBytes === chunkBytes ? 1 : aheadMax + 1
  const buffers = Array.from({ length: pieces }, () => new Uint8Array(pieceBytes))
  let turn = 0
  return (bytes) => {
    turn += 1
    return (buffers[turn % buffers.length] ?? new Uint8Array(bytes)).subarray(0, bytes)
  }
}

/**
 * Reads `range` of a chunk, some pieces ahead of the one that is asked for. Memory comes from
 * `allocate`; with the default each piece is the caller's to keep.
 */
export const pieceReader = (
  file: DiskFile,
  header: BlockFileHeader,
  range: ByteRange,
  allocate: Allocate = (bytes) => Buffer.allocUnsafeSlow(bytes)
): PieceReader => {
  const firstBlock = Math.floor(range.start / blockBytes)
  const endBlock = range.end > range.start ? blockCount(range.end) : firstBlock
  let nextBlock = firstBlock
  let table: Promise<Uint32Array> | undefined
  const ahead: Array<Promise<Settled>> = []

  const readTable = async () =>
    decodeTable(
      await readExactly(
        file,
        new Uint8Array(4 * (endBlock - firstBlock)),
        tableOffset(header.length) + 4 * firstBlock
      )
    )
  const readPiece = async (first: number, end: number): Promise<Uint8Array> => {
    table ??= readTable()
    const checksums = await table
    const start = first * blockBytes
    const stop = Math.min(end * blockBytes, header.length)
    const piece = await readExactly(file, allocate(stop - start), dataOffset + start)
    checkBlocks(piece, checksums.subarray(first - firstBlock, end - firstBlock), first)
    return piece.subarray(Math.max(range.start - start, 0), Math.min(range.end, stop) - start)
  }
  const readAhead = () => {
    while (nextBlock < endBlock && ahead.length < aheadMax) {
      const first = nextBlock
      nextBlock = Math.min(first + blocksPerPiece, endBlock)
      ahead.push(
        readPiece(first, nextBlock).then(
          (piece): Settled => ({ ok: true, piece }),
          (cause: unknown): Settled => ({ ok: false, cause })
        )
      )
    }
  }
  return {
    next: async () => {
      readAhead()
      const settled = await ahead.shift()
      if (settled === undefined) return undefined
      if (!settled.ok) throw settled.cause
      readAhead()
      return settled.piece
    }
  }
}

/** Reads everything and checks every block, the table and the whole checksum. */
export const verifyFile = async (file: DiskFile, header: BlockFileHeader): Promise<void> => {
  const table = await readExactly(
    file,
    new Uint8Array(4 * blockCount(header.length)),
    tableOffset(header.length)
  )
  if (crc32(table) !== header.tableChecksum) {
    throw new BlockFileDamage("the checksum of the table is wrong")
  }
  const all = { start: 0, end: header.length }
  const pieces = pieceReader(file, header, all, turningBuffers(header.length))
  let whole = 0
  for (;;) {
    const piece = await pieces.next()
    if (piece === undefined) break
    whole = crc32(piece, whole)
  }
  if (whole !== header.checksum) throw new BlockFileDamage("the whole checksum is wrong")
}
