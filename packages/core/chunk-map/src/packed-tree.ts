/**
 * The committed chunks, as a persistent ordered tree of packed rows.
 *
 * ```
 *   tree ─ branches[] ─ branch { leaves[<=256], their keys } ─ leaf { words, 7 a row }
 *
 *   row   0 fileId, low 32 bits        4 replica set << 4 | goal
 *         1 chunkId                    5 length in bytes
 *         2 fileId high 16 | version   6 CRC-32 of the chunk
 *           high 16
 *         3 version, low 32 bits
 * ```
 * 1. Rows rise strictly by `(fileId, chunkId)` in a leaf, from leaf to leaf, from branch to branch.
 * 2. No leaf and no branch is empty; a leaf of a sealed tree has no slack.
 * 3. A sealed tree never changes: an edit copies what it touches once (`packed-tree-edit.ts`).
 *
 * A row is 28 bytes and a full leaf adds about one byte a row, whatever the number of replicas: the
 * set number names an interned set (`replica-sets.ts`). Lookup is three binary searches.
 */
import type { ChunkKey } from "./identity.ts"

/** Words of 32 bits in a row. */
export const ROW_WORDS = 7
/** Rows in a full leaf. */
export const LEAF_ROWS = 256
/** Leaves in a full branch. */
export const BRANCH_LEAVES = 256

/** A leaf: `rows` rows, packed from the start of `words`. */
export interface TreeLeaf {
  readonly owner: object | null
  words: Uint32Array
  rows: number
}

/**
 * A branch: a run of leaves, and for each a key that none of its rows is below. The lists of keys
 * have room for one leaf more than fits. The first leaf of all takes every key below the second
 * one's.
 */
export interface TreeBranch {
  readonly owner: object | null
  readonly leaves: Array<TreeLeaf>
  readonly files: Float64Array
  readonly chunks: Uint32Array
}

/** What can be read: a sealed tree, or an edit of one at this moment. */
export interface ReadableTree {
  readonly branches: ReadonlyArray<TreeBranch>
  readonly size: number
}

/** A committed chunk, unpacked; `set` is the number of its interned replica set. */
export interface ChunkRecord {
  readonly fileId: number
  readonly chunkId: number
  readonly version: number
  readonly goal: number
  readonly length: number
  readonly checksum: number
  readonly set: number
}

/** A place in a tree that reads and edits move; reused so that lookups allocate nothing. */
export interface Cursor {
  branch: number
  leaf: number
  row: number
  words: Uint32Array
  offset: number
}

/** The tree without chunks. */
export const emptyTree: ReadableTree = { branches: [], size: 0 }

const noWords = new Uint32Array(0)

/** A cursor that stands nowhere yet. */
export const newCursor = (): Cursor => ({ branch: 0, leaf: 0, row: 0, words: noWords, offset: 0 })

/** Whether the row at `offset` stands below a key; the key's file id comes in two halves. */
const isBelow = (
  words: Uint32Array,
  offset: number,
  fileHigh: number,
  fileLow: number,
  chunkId: number
): boolean => {
  const high = words[offset + 2]! >>> 16
  if (high !== fileHigh) return high < fileHigh
  const low = words[offset]!
  if (low !== fileLow) return low < fileLow
  return words[offset + 1]! < chunkId
}

/** Whether the row at `offset` is the one of a key. */
const isAt = (
  words: Uint32Array,
  offset: number,
  fileHigh: number,
  fileLow: number,
  chunkId: number
): boolean =>
  words[offset + 1] === chunkId &&
  words[offset] === fileLow &&
  (words[offset + 2]! >>> 16) - fileHigh === 0

/** The last branch whose first key is not above a key, or 0. */
const branchFor = (
  branches: ReadonlyArray<TreeBranch>,
  fileId: number,
  chunkId: number
): number => {
  let low = 0
  let high = branches.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    const branch = branches[middle]!
    const file = branch.files[0]!
    if (file === fileId ? branch.chunks[0]! <= chunkId : file < fileId) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * The last leaf of a branch whose key is not above a key, or 0. A file without gaps fills its
 * leaves: where it does, the leaf is found without a search.
 */
const leafFor = (branch: TreeBranch, fileId: number, chunkId: number): number => {
  const { files, chunks } = branch
  let low = 0
  let high = branch.leaves.length - 1
  if (files[0] === fileId && chunks[0]! <= chunkId) {
    const likely = Math.min(((chunkId - chunks[0]!) / LEAF_ROWS) | 0, high)
    const isNotAbove = files[likely] === fileId && chunks[likely]! <= chunkId
    const next = likely + 1
    const isBelowNext = likely === high || files[next] !== fileId || chunks[next]! > chunkId
    if (isNotAbove && isBelowNext) return likely
  }
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    const file = files[middle]!
    if (file === fileId ? chunks[middle]! <= chunkId : file < fileId) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * Moves the cursor to the chunk, or to where it would stand; says whether it is there. A cursor
 * that stands where it would be appended has `row` equal to the rows of its leaf.
 */
export const seek = (
  tree: ReadableTree,
  fileId: number,
  chunkId: number,
  cursor: Cursor
): boolean => {
  const { branches } = tree
  if (branches.length === 0) return false
  cursor.branch = branchFor(branches, fileId, chunkId)
  const branch = branches[cursor.branch]!
  cursor.leaf = leafFor(branch, fileId, chunkId)
  const { words, rows } = branch.leaves[cursor.leaf]!
  const fileHigh = (fileId / 0x100000000) | 0
  const fileLow = fileId >>> 0
  let low = 0
  let high = rows
  // Chunk ids of one file rise by at least one a row, so a row cannot stand further on than this;
  // in a file without gaps it stands exactly here.
  const furthest = chunkId - branch.chunks[cursor.leaf]!
  if (branch.files[cursor.leaf] === fileId && furthest >= 0 && furthest < rows) {
    if (isAt(words, furthest * ROW_WORDS, fileHigh, fileLow, chunkId)) low = furthest
    high = furthest
  }
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(words, middle * ROW_WORDS, fileHigh, fileLow, chunkId)) low = middle + 1
    else high = middle
  }
  cursor.row = low
  cursor.words = words
  cursor.offset = low * ROW_WORDS
  return low < rows && isAt(words, cursor.offset, fileHigh, fileLow, chunkId)
}

/** Moves a cursor that stands past the end of its leaf to the next row; false at the end. */
export const settle = (tree: ReadableTree, cursor: Cursor): boolean => {
  let branch = tree.branches[cursor.branch]
  while (branch !== undefined) {
    const leaf = branch.leaves[cursor.leaf]
    if (leaf !== undefined && cursor.row < leaf.rows) {
      cursor.words = leaf.words
      cursor.offset = cursor.row * ROW_WORDS
      return true
    }
    cursor.row = 0
    cursor.leaf++
    if (cursor.leaf >= branch.leaves.length) {
      cursor.leaf = 0
      cursor.branch++
      branch = tree.branches[cursor.branch]
    }
  }
  return false
}

/** Moves the cursor to the first chunk that is not below the key; false when there is none. */
export const seekFrom = (tree: ReadableTree, key: ChunkKey, cursor: Cursor): boolean => {
  cursor.branch = cursor.leaf = cursor.row = 0
  seek(tree, key.fileId, key.chunkId, cursor)
  return settle(tree, cursor)
}

/** Moves the cursor to the next chunk; false at the end. */
export const advance = (tree: ReadableTree, cursor: Cursor): boolean => {
  cursor.row++
  return settle(tree, cursor)
}

/** The file id of a row. */
export const rowFileId = (words: Uint32Array, offset: number): number =>
  (words[offset + 2]! >>> 16) * 0x100000000 + words[offset]!
/** The chunk id of a row. */
export const rowChunkId = (words: Uint32Array, offset: number): number => words[offset + 1]!
/** The committed version of a row. */
export const rowVersion = (words: Uint32Array, offset: number): number =>
  (words[offset + 2]! & 0xffff) * 0x100000000 + words[offset + 3]!
/** The replica set number of a row. */
export const rowSet = (words: Uint32Array, offset: number): number => words[offset + 4]! >>> 4
/** The goal of a row. */
export const rowGoal = (words: Uint32Array, offset: number): number => words[offset + 4]! & 0xf
/** The length in bytes of a row's chunk. */
export const rowLength = (words: Uint32Array, offset: number): number => words[offset + 5]!
/** The CRC-32 of a row's chunk. */
export const rowChecksum = (words: Uint32Array, offset: number): number => words[offset + 6]!

/** The row as an object. */
export const rowRecord = (words: Uint32Array, offset: number): ChunkRecord => ({
  fileId: rowFileId(words, offset),
  chunkId: rowChunkId(words, offset),
  version: rowVersion(words, offset),
  goal: rowGoal(words, offset),
  length: rowLength(words, offset),
  checksum: rowChecksum(words, offset),
  set: rowSet(words, offset)
})

/** The record of a chunk, or undefined. */
export const findRecord = (tree: ReadableTree, key: ChunkKey): ChunkRecord | undefined => {
  const cursor = newCursor()
  if (!seek(tree, key.fileId, key.chunkId, cursor)) return undefined
  return rowRecord(cursor.words, cursor.offset)
}

/** The greatest chunk id of a file, or -1 when it has no chunk. */
export const lastChunkId = (tree: ReadableTree, fileId: number): number => {
  const cursor = newCursor()
  if (tree.branches.length === 0) return -1
  if (seek(tree, fileId, 0xffffffff, cursor)) return 0xffffffff
  if (cursor.row === 0) return -1
  const offset = (cursor.row - 1) * ROW_WORDS
  return rowFileId(cursor.words, offset) === fileId ? rowChunkId(cursor.words, offset) : -1
}
