/**
 * A scoped batch of edits of the packed tree.
 *
 * 1. The tree that the edit began with never changes.
 * 2. Each branch and leaf that is touched is copied once an edit; what it owns is changed in place.
 * 3. Sealing trims the slack of the leaves it owns and ends the edit.
 *
 * Rows that arrive in rising order fill leaves completely; rows in random order leave them about
 * two thirds full, without slack.
 */
import { assertThat } from "./assertion.ts"
import {
  BRANCH_LEAVES,
  emptyTree,
  LEAF_ROWS,
  newCursor,
  ROW_WORDS,
  rowChunkId,
  rowFileId,
  seek,
  type ChunkRecord,
  type Cursor,
  type ReadableTree,
  type TreeBranch,
  type TreeLeaf
} from "./packed-tree.ts"

const writeRow = (words: Uint32Array, offset: number, record: ChunkRecord): void => {
  const fileHigh = (record.fileId / 0x100000000) | 0
  const versionHigh = (record.version / 0x100000000) | 0
  words[offset] = record.fileId
  words[offset + 1] = record.chunkId
  words[offset + 2] = (fileHigh << 16) | versionHigh
  words[offset + 3] = record.version
  words[offset + 4] = (record.set << 4) | record.goal
  words[offset + 5] = record.length
  words[offset + 6] = record.checksum
}

/** A branch over some leaves of another one's, or over a new leaf. */
const newBranch = (
  owner: object,
  leaves: Array<TreeLeaf>,
  keys: { readonly files: Float64Array; readonly chunks: Uint32Array }
): TreeBranch => {
  const files = new Float64Array(BRANCH_LEAVES + 1)
  const chunks = new Uint32Array(BRANCH_LEAVES + 1)
  files.set(keys.files)
  chunks.set(keys.chunks)
  return { owner, leaves, files, chunks }
}

/** A scoped batch of edits; readable like a tree at every moment. */
export class TreeEdit implements ReadableTree {
  readonly #owner = {}
  readonly #owned: Array<TreeLeaf> = []
  readonly #cursor: Cursor = newCursor()
  readonly #base: ReadableTree
  #branches: Array<TreeBranch> | undefined
  #size: number
  #sealed = false

  constructor(base: ReadableTree) {
    this.#base = base
    this.#size = base.size
  }

  /** The branches at this moment. */
  get branches(): ReadonlyArray<TreeBranch> {
    return this.#branches ?? this.#base.branches
  }

  /** The number of chunks at this moment. */
  get size(): number {
    return this.#size
  }

  /** Adds a chunk or replaces its row. */
  put(record: ChunkRecord): void {
    const cursor = this.#cursor
    this.putAt(cursor, seek(this, record.fileId, record.chunkId, cursor), record)
  }

  /** As `put`, where `seek` just moved the cursor to the record's key, and said if it is there. */
  putAt(cursor: Cursor, found: boolean, record: ChunkRecord): void {
    if (found) {
      this.#ownLeaf(cursor)
      writeRow(cursor.words, cursor.offset, record)
      return
    }
    this.#insert(cursor, record)
    this.#size++
  }

  /** Changes the replica set of the chunk that the cursor stands on; the cursor stays good. */
  putSet(cursor: Cursor, set: number): void {
    this.#ownLeaf(cursor)
    const at = cursor.offset + 4
    cursor.words[at] = (set << 4) | (cursor.words[at]! & 0xf)
  }

  /** Removes a chunk; says whether it was there. */
  remove(fileId: number, chunkId: number): boolean {
    const cursor = this.#cursor
    if (!seek(this, fileId, chunkId, cursor)) return false
    const leaf = this.#ownLeaf(cursor)
    leaf.words.copyWithin(cursor.offset, cursor.offset + ROW_WORDS, leaf.rows * ROW_WORDS)
    leaf.rows--
    this.#size--
    if (leaf.rows === 0) {
      const branches = this.#writable()
      const branch = this.#ownBranch(cursor.branch)
      branch.leaves.splice(cursor.leaf, 1)
      branch.files.copyWithin(cursor.leaf, cursor.leaf + 1)
      branch.chunks.copyWithin(cursor.leaf, cursor.leaf + 1)
      if (branch.leaves.length === 0) branches.splice(cursor.branch, 1)
    }
    return true
  }

  /** The edited tree; the edit is over. */
  seal(): ReadableTree {
    this.#sealed = true
    if (this.#branches === undefined) return this.#base
    if (this.#size === 0) return emptyTree
    for (const leaf of this.#owned) {
      const used = leaf.rows * ROW_WORDS
      if (leaf.rows > 0 && leaf.words.length > used) leaf.words = leaf.words.slice(0, used)
    }
    return { branches: this.#branches, size: this.#size }
  }

  #writable(): Array<TreeBranch> {
    assertThat(!this.#sealed, "a tree edit is used after it was sealed")
    this.#branches ??= this.#base.branches.slice()
    return this.#branches
  }

  #ownBranch(index: number): TreeBranch {
    const branches = this.#writable()
    const branch = branches[index]!
    if (branch.owner === this.#owner) return branch
    const owned = newBranch(this.#owner, branch.leaves.slice(), branch)
    branches[index] = owned
    return owned
  }

  #newLeaf(words: Uint32Array, rows: number): TreeLeaf {
    const leaf = { owner: this.#owner, words, rows }
    this.#owned.push(leaf)
    return leaf
  }

  #ownLeaf(cursor: Cursor): TreeLeaf {
    const branch = this.#ownBranch(cursor.branch)
    const leaf = branch.leaves[cursor.leaf]!
    if (leaf.owner === this.#owner) {
      cursor.words = leaf.words
      return leaf
    }
    const owned = this.#newLeaf(leaf.words.slice(), leaf.rows)
    branch.leaves[cursor.leaf] = owned
    cursor.words = owned.words
    return owned
  }

  #insert(cursor: Cursor, record: ChunkRecord): void {
    if (this.#size === 0) {
      const words = new Uint32Array(LEAF_ROWS * ROW_WORDS)
      writeRow(words, 0, record)
      const branches = this.#writable()
      branches.length = 0
      const keys = {
        files: Float64Array.of(record.fileId),
        chunks: Uint32Array.of(record.chunkId)
      }
      branches.push(newBranch(this.#owner, [this.#newLeaf(words, 1)], keys))
      return
    }
    let leaf = this.#ownLeaf(cursor)
    if (leaf.rows === LEAF_ROWS) leaf = this.#splitLeaf(cursor, leaf, record)
    if (cursor.row === 0) this.#lowerKey(cursor, record)
    if (leaf.words.length < LEAF_ROWS * ROW_WORDS) {
      const words = new Uint32Array(LEAF_ROWS * ROW_WORDS)
      words.set(leaf.words)
      leaf.words = words
    }
    const offset = cursor.row * ROW_WORDS
    leaf.words.copyWithin(offset + ROW_WORDS, offset, leaf.rows * ROW_WORDS)
    writeRow(leaf.words, offset, record)
    leaf.rows++
  }

  /** A row below all others becomes the first of its leaf, which its key must not be above. */
  #lowerKey(cursor: Cursor, record: ChunkRecord): void {
    const branch = this.#ownBranch(cursor.branch)
    const file = branch.files[cursor.leaf]!
    const below =
      record.fileId === file ? record.chunkId < branch.chunks[cursor.leaf]! : record.fileId < file
    if (!below) return
    branch.files[cursor.leaf] = record.fileId
    branch.chunks[cursor.leaf] = record.chunkId
  }

  /** Splits the full leaf under the cursor and moves the cursor to the half that takes its row. */
  #splitLeaf(cursor: Cursor, leaf: TreeLeaf, record: ChunkRecord): TreeLeaf {
    const appends = cursor.row === LEAF_ROWS
    const cut = appends ? LEAF_ROWS : LEAF_ROWS >>> 1
    const words = new Uint32Array(LEAF_ROWS * ROW_WORDS)
    words.set(leaf.words.subarray(cut * ROW_WORDS, leaf.rows * ROW_WORDS))
    const right = this.#newLeaf(words, leaf.rows - cut)
    leaf.rows = cut
    const branch = this.#ownBranch(cursor.branch)
    const at = cursor.leaf + 1
    branch.leaves.splice(at, 0, right)
    branch.files.copyWithin(at + 1, at)
    branch.chunks.copyWithin(at + 1, at)
    branch.files[at] = appends ? record.fileId : rowFileId(words, 0)
    branch.chunks[at] = appends ? record.chunkId : rowChunkId(words, 0)
    const goesRight = appends || cursor.row > cut
    if (goesRight) {
      cursor.leaf++
      cursor.row -= cut
    }
    if (branch.leaves.length > BRANCH_LEAVES) this.#splitBranch(cursor)
    return goesRight ? right : leaf
  }

  #splitBranch(cursor: Cursor): void {
    const branch = this.#ownBranch(cursor.branch)
    const atEnd = cursor.leaf === branch.leaves.length - 1
    const cut = atEnd ? branch.leaves.length - 1 : branch.leaves.length >>> 1
    const leaves = branch.leaves.splice(cut)
    const keys = { files: branch.files.slice(cut), chunks: branch.chunks.slice(cut) }
    this.#writable().splice(cursor.branch + 1, 0, newBranch(this.#owner, leaves, keys))
    if (cursor.leaf >= cut) {
      cursor.branch++
      cursor.leaf -= cut
    }
  }
}
