/**
 * How a chunk device keeps copies as cells: a head that describes the copy, and its blocks.
 *
 *     identity    epoch    c/<file id>/<chunk id>/<version>/head    c/.../block/<number>
 *
 * Keys sort as (file id, chunk id, version). Each cell's checksum covers one block, so that damage
 * is found block by block.
 */
import { type ChunkName, ChunkDescription, DeviceIdentity } from "@holdfast/storage"
import { Schema } from "effect"
import { type Cell, type CellWrite, isIntact, numberKey } from "./cells.ts"
import { jsonValue } from "./json-value.ts"

/** Bytes of a block; the last one of a copy may be shorter. */
export const blockBytes = 65_536

/** The codec of the identity cell. */
export const identityValue = jsonValue(DeviceIdentity)
/** The codec of the epoch cell. */
export const epochValue = jsonValue(Schema.Natural)
/** The codec of a head cell. */
export const headValue = jsonValue(ChunkDescription)

/** What all cell keys of a copy begin with. */
export const copyPrefix = ({ fileId, chunkId, version }: ChunkName): string =>
  `c/${[fileId, chunkId, version].map(numberKey).join("/")}/`

/** The cell key of a copy's head. */
export const headKey = (chunk: ChunkName): string => `${copyPrefix(chunk)}head`

/** The cell key of a copy's block. */
export const blockKey = (chunk: ChunkName, index: number): string =>
  `${copyPrefix(chunk)}block/${numberKey(index)}`

/** The writes that store a copy: its blocks, then its head. */
export const copyWrites = (description: ChunkDescription, bytes: Uint8Array): Array<CellWrite> => {
  const writes: Array<CellWrite> = []
  for (let start = 0; start < bytes.length; start += blockBytes) {
    const block = bytes.subarray(start, start + blockBytes)
    writes.push([blockKey(description, start / blockBytes), block])
  }
  writes.push([headKey(description), headValue.encode(description)])
  return writes
}

/** The writes that remove a copy. */
export const removalWrites = (
  cells: ReadonlyMap<string, Cell>,
  chunk: ChunkName
): ReadonlyArray<CellWrite> => {
  const writes: Array<CellWrite> = []
  for (let index = 0; cells.has(blockKey(chunk, index)); index += 1) {
    writes.push([blockKey(chunk, index), undefined])
  }
  if (cells.has(headKey(chunk))) writes.push([headKey(chunk), undefined])
  return writes
}

/** The bytes of an intact cell, or undefined. */
export const intactBytes = (
  cells: ReadonlyMap<string, Cell>,
  key: string
): Uint8Array | undefined => {
  const cell = cells.get(key)
  return cell !== undefined && isIntact(cell) ? cell.bytes : undefined
}
