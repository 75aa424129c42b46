/**
 * Checksums of a chunk's blocks, taken while its bytes stream past, and of the whole, which are
 * joined from them: no byte is looked at twice.
 */
import { crc32 } from "node:zlib"
import { blockBytes, blockCount } from "./block-file-format.ts"
import { checksumJoiner } from "./checksum-join.ts"

const joinBlock = checksumJoiner(blockBytes)

/** The checksum of all bytes from those of their blocks, of which only the last may be shorter. */
const joinBlocks = (blocks: Uint32Array, length: number): number => {
  const whole = blocks.subarray(0, Math.floor(length / blockBytes)).reduce(joinBlock, 0)
  const rest = length % blockBytes
  return rest === 0 ? whole : checksumJoiner(rest)(whole, blocks.at(-1) ?? 0)
}

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
  const addToBlock = (bytes: Uint8Array) => {
    const index = Math.floor(length / blockBytes)
    blocks[index] = crc32(bytes, blocks[index])
    length += bytes.length
  }
  return {
    add: (bytes) => {
      let taken = 0
      while (taken < bytes.length) {
        const room = blockBytes - (length % blockBytes)
        const part = bytes.subarray(taken, taken + room)
        addToBlock(part)
        taken += part.length
      }
    },
    length: () => length,
    result: () => {
      const taken = blocks.slice(0, blockCount(length))
      return { whole: joinBlocks(taken, length), blocks: taken }
    }
  }
}
