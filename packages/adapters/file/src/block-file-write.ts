/**
 * Writes a chunk file in one pass: gathers bytes into large pieces, takes the checksums while they
 * pass, and puts one piece on the disk while the next one is gathered.
 *
 * 1. Bytes given to `add` are copied: the caller may use them again when it returns.
 * 2. `seal` writes table and header after the data and makes all of it durable at once: a file is a
 *    copy by its name, which it gets afterwards, so that no order among its bytes matters.
 * 3. Of a large file, what is on its way to the disk is pushed there while more comes, so that the
 *    last sync has little left to do.
 * 4. A failed write is answered by the next `add` or by `seal`, and by every later one.
 */
import type { ChunkDescription, ChunkName } from "@holdfast/storage"
import { crc32 } from "node:zlib"
import { blockChecksums } from "./block-file-checksums.ts"
import { dataOffset, encodeHeader, encodeTable, tableOffset } from "./block-file-format.ts"
import type { DiskFile } from "./chunk-device-disk.ts"

/** Bytes that go to the disk in one call. */
const pieceBytesMax = 1024 * 1024
/** Bytes after which the disk is told to begin. */
const pushBytes = 16 * 1024 * 1024

/** A chunk file being written. */
export interface BlockFileWriter {
  readonly add: (bytes: Uint8Array) => Promise<void>
  /** Bytes taken so far. */
  readonly length: () => number
  /** Makes the file complete and durable under its present name. */
  readonly seal: () => Promise<ChunkDescription>
}

/** The bytes of a piece on their way to the disk. */
interface PieceWriter {
  readonly add: (bytes: Uint8Array) => Promise<void>
  readonly flush: () => Promise<void>
}

const pieceWriter = (
  file: DiskFile,
  expectedBytes: number,
  onWritten: (bytes: number) => void
): PieceWriter => {
  const pieceBytes = Math.max(1, Math.min(expectedBytes, pieceBytesMax))
  let filling = new Uint8Array(pieceBytes)
  let other: typeof filling | undefined
  let filled = 0
  let position = dataOffset
  let failure: { readonly cause: unknown } | undefined
  let underWay = Promise.resolve()
  let pushing: Promise<void> | undefined
  let pushed = dataOffset

  const fail = (cause: unknown) => {
    failure ??= { cause }
  }
  const push = () => {
    if (pushing !== undefined || position - pushed < pushBytes) return
    pushed = position
    pushing = file.syncData().catch(fail)
    void pushing.finally(() => {
      pushing = undefined
    })
  }
  const settle = async () => {
    await underWay
    if (failure !== undefined) throw failure.cause
  }
  const start = async () => {
    await settle()
    const piece = filling.subarray(0, filled)
    const at = position
    position += filled
    filled = 0
    const spare = other ?? new Uint8Array(pieceBytes)
    other = filling
    filling = spare
    underWay = file.write(piece, at).then(() => {
      onWritten(piece.length)
      push()
    }, fail)
  }
  return {
    add: async (bytes) => {
      let taken = 0
      while (taken < bytes.length) {
        const part = bytes.subarray(taken, taken + pieceBytes - filled)
        filling.set(part, filled)
        filled += part.length
        taken += part.length
        if (filled === pieceBytes) await start()
      }
      if (failure !== undefined) throw failure.cause
    },
    flush: async () => {
      if (filled > 0) await start()
      await settle()
      await pushing
      await settle()
    }
  }
}

/** Starts a chunk file in `file`, an empty one; `add` takes at most `expectedBytes` in all. */
export const blockFileWriter = (options: {
  readonly file: DiskFile
  readonly chunk: ChunkName
  readonly expectedBytes: number
  readonly onWritten: (bytes: number) => void
}): BlockFileWriter => {
  const { file, chunk } = options
  const checksums = blockChecksums(options.expectedBytes)
  const pieces = pieceWriter(file, options.expectedBytes, options.onWritten)
  return {
    add: (bytes) => {
      checksums.add(bytes)
      return pieces.add(bytes)
    },
    length: checksums.length,
    seal: async () => {
      await pieces.flush()
      const length = checksums.length()
      const { whole, blocks } = checksums.result()
      const table = encodeTable(blocks)
      const description = { ...chunk, length, checksum: whole }
      await file.write(table, tableOffset(length))
      await file.write(encodeHeader({ ...description, tableChecksum: crc32(table) }), 0)
      await file.sync()
      return description
    }
  }
}
