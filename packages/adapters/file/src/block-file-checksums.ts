/** Checksums of a chunk's blocks and of the whole, taken while its bytes stream past. */
import { crc32 } from "node:zlib"
import { blockBytes, blockCount } from "./block-file-format.ts"

/** Checksums under way. */
export interface BlockChecksums {
  /** Takes the next bytes; O(bytes). */
  readonly add: (bytes: Uint8Array) => void
  readonly length: () => number
  /** The whole checksum and one for each block so far, the last perhaps of a part. */
  readonly result: () => { readonly whole: number; readonly blocks: Uint32Array }
}

/** Starts the checksums of a chunk of at most `expectedBytes`. */
export const blockChecksums = (expectedBytes: number): BlockChecksums => {
  const blocks = new Uint32Array(blockCount(expectedBytes))
  let length = 0
  let whole = 0
  const addToBlock = (bytes: Uint8Array) => {
    const index = Math.floor(length / blockBytes)
    blocks[index] = crc32(bytes, blocks[index])
    length += bytes.length
  }
  return {
    add: (bytes) => {
      whole = crc32(bytes, whole)
      let taken = 0
      while (taken < bytes.length) {
        const room = blockBytes - (length % blockBytes)
        const part = bytes.subarray(taken, taken + room)
        addToBlock(part)
        taken += part.length
      }
    },
    length: () => length,
    result: () => ({ whole, blocks: blocks.slice(0, blockCount(length)) })
  }
}
