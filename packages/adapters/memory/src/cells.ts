/** The content of a file on a memory disk: cells by key, each with a checksum of its bytes. */
import { crc32 } from "node:zlib"

/** Stored bytes; the checksum is what it was when they were written. */
export interface Cell {
  readonly bytes: Uint8Array
  readonly checksum: number
}

/** A file's content; keys are read in order of their UTF-16 code units. */
export type Cells = Map<string, Cell>

/** A change of cells: bytes to store, or undefined to remove. */
export type CellWrite = readonly [key: string, bytes: Uint8Array | undefined]

/** Makes a cell of a copy of the bytes. */
export const makeCell = (bytes: Uint8Array): Cell => ({
  bytes: bytes.slice(),
  checksum: crc32(bytes)
})

/** Whether a cell's bytes are those that were written. */
export const isIntact = (cell: Cell): boolean => crc32(cell.bytes) === cell.checksum

/** A cell whose second half never reached the disk; empty ones get a wrong checksum. */
export const tornCell = (cell: Cell): Cell => ({
  bytes: cell.bytes.slice(0, cell.bytes.length >>> 1),
  checksum: cell.bytes.length < 2 ? ~cell.checksum : cell.checksum
})

/** A cell with one bit turned over; none when the byte does not exist. */
export const flippedCell = (cell: Cell, byte: number, bit: number): Cell => {
  const bytes = cell.bytes.slice()
  const old = bytes[byte]
  if (old !== undefined) bytes[byte] = old ^ (1 << bit)
  return { bytes, checksum: cell.checksum }
}

/** The bytes by which writes change a file's size. */
export const sizeChange = (cells: Cells, writes: ReadonlyArray<CellWrite>): number => {
  let change = 0
  for (const [key, bytes] of writes) {
    change += (bytes?.length ?? 0) - (cells.get(key)?.bytes.length ?? 0)
  }
  return change
}

/** Keys with a prefix, in order; O(n log n). */
export const sortedKeys = (
  cells: ReadonlyMap<string, Cell>,
  prefix: string
): ReadonlyArray<string> => [...cells.keys()].filter((key) => key.startsWith(prefix)).sort()

/** A number as a key part of 16 digits, so that keys sort as their numbers. */
export const numberKey = (value: number | bigint): string => String(value).padStart(16, "0")
