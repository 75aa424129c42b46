/** What is durable on a disk, seen past the ports: for those who judge what services promised. */
import type { ChunkName, PartitionAddress } from "@holdfast/storage"
import { type Cell, isIntact } from "./cells.ts"
import { blockBytes, blockKey, headKey, headValue } from "./device-cells.ts"
import { splitFrames } from "./frames.ts"
import { Option } from "effect"

/** A copy whose name is on a device. */
export interface DurableCopy extends ChunkName {
  /** Head and blocks are as they were written. */
  readonly isIntact: boolean
  /** A cell that holds bytes of it, to aim damage at. */
  readonly block: string
}

const judged = new WeakMap<Cell, boolean>()

/** Cells never change, so that each is judged once. */
const isSound = (cell: Cell | undefined): boolean => {
  if (cell === undefined) return false
  const known = judged.get(cell)
  if (known !== undefined) return known
  const sound = isIntact(cell)
  judged.set(cell, sound)
  return sound
}

const headPattern = /^c\/(\d+)\/(\d+)\/(\d+)\/head$/

const areBlocksSound = (
  cells: ReadonlyMap<string, Cell>,
  chunk: ChunkName,
  length: number
): boolean => {
  for (let index = 0; index * blockBytes < length; index += 1) {
    if (!isSound(cells.get(blockKey(chunk, index)))) return false
  }
  return true
}

/** The copies in a device's cells, in no order; O(cells). */
export const durableCopies = (cells: ReadonlyMap<string, Cell>): ReadonlyArray<DurableCopy> => {
  const copies: Array<DurableCopy> = []
  for (const [key, head] of cells) {
    const match = headPattern.exec(key)
    if (match === null) continue
    const [fileId = 0, chunkId = 0, version = 0] = match.slice(1).map(Number)
    const chunk = { fileId, chunkId, version }
    const described = isSound(head) ? headValue.decode(head.bytes) : Option.none()
    const isIntact =
      Option.isSome(described) && areBlocksSound(cells, chunk, described.value.length)
    copies.push({ ...chunk, isIntact, block: blockKey(chunk, 0) })
  }
  return copies
}

/** The bytes of a copy; none when it is not there, or damaged. */
export const durableBytes = (
  cells: ReadonlyMap<string, Cell>,
  chunk: ChunkName
): Uint8Array | undefined => {
  const head = cells.get(headKey(chunk))
  if (head === undefined || !isSound(head)) return undefined
  const described = headValue.decode(head.bytes)
  if (Option.isNone(described)) return undefined
  const bytes = new Uint8Array(described.value.length)
  for (let start = 0; start < bytes.length; start += blockBytes) {
    const block = cells.get(blockKey(chunk, start / blockBytes))
    if (block === undefined || !isSound(block)) return undefined
    bytes.set(block.bytes, start)
  }
  return bytes
}

/** A partition as it was committed. */
export interface DurablePartition extends PartitionAddress {
  readonly state: Uint8Array
  /** The cell that holds it, to aim damage at. */
  readonly cell: string
}

const states = new WeakMap<Cell, Uint8Array | null>()

/** A partition's state as committed; null when the cell is damaged. */
const stateIn = (cell: Cell): Uint8Array | null => {
  const known = states.get(cell)
  if (known !== undefined) return known
  const state = isSound(cell) ? (splitFrames(cell.bytes)[0] ?? null) : null
  states.set(cell, state)
  return state
}

/** The intact partitions in a store's cells, with their states as they were committed; O(cells). */
export const durablePartitions = (
  cells: ReadonlyMap<string, Cell>
): ReadonlyArray<DurablePartition> => {
  const partitions: Array<DurablePartition> = []
  for (const [path, cell] of cells) {
    const [kind, application, key] = path.split("/")
    if (kind !== "p" || application === undefined || key === undefined) continue
    const state = stateIn(cell)
    if (state !== null) partitions.push({ application, key, state, cell: path })
  }
  return partitions
}
