/**
 * Walks all trees of LMDB's data file before LMDB does. LMDB checks nothing: a page that a disk has
 * lost or exchanged ends the process, and the next one that is started, too.
 *
 *     newest head ─▶ tree of free pages
 *            └─────▶ table of tables ─▶ each table ─▶ values with pages of their own
 *
 * 1. What passes can be walked in any direction: each page is of the right kind, stands in one
 *    place of one tree, and has its keys in order between those of its neighbours.
 * 2. What values hold is not looked at: they have checksums of their own.
 * 3. Memory: a bit a page of the file, and the pages on the way down.
 */
import { fstatSync, readSync } from "node:fs"
import { Effect } from "effect"
import {
  checkOverflow,
  type Node,
  PAGE_HEAD_BYTES,
  PageDamage,
  type PageFrame,
  readNodes,
  readTree,
  type Tree
} from "./lmdb-page.ts"

/** Where the newest transaction's trees begin. */
interface Head {
  readonly pageBytes: number
  readonly transaction: bigint
  readonly trees: readonly [free: Tree, tables: Tree]
}

const TRANSACTION_OFFSET = 152
const FREE_TREE_OFFSET = 48
const TABLES_TREE_OFFSET = 96
const HEAD_BYTES = 160
/** Pages between two looks at other fibers. */
const PAGES_AT_ONCE = 256

const readAt = (file: number, offset: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length)
  const read = readSync(file, bytes, 0, length, offset)
  if (read < length) throw new PageDamage("the file ends before it")
  return bytes
}

const readHead = (file: number): Head => {
  const first = readAt(file, 0, HEAD_BYTES)
  const pageBytes = first.readUInt32LE(FREE_TREE_OFFSET)
  const second = readAt(file, pageBytes, HEAD_BYTES)
  const isSecond =
    second.readBigUInt64LE(TRANSACTION_OFFSET) > first.readBigUInt64LE(TRANSACTION_OFFSET)
  const newest = isSecond ? second : first
  return {
    pageBytes,
    transaction: newest.readBigUInt64LE(TRANSACTION_OFFSET),
    trees: [readTree(newest, FREE_TREE_OFFSET), readTree(newest, TABLES_TREE_OFFSET)]
  }
}

type Compare = (one: Buffer, other: Buffer) => number

const inBytes: Compare = (one, other) => Buffer.compare(one, other)

/** Keys of the tree of free pages are numbers in the machine's order of bytes. */
const asNumbers: Compare = (one, other) => {
  if (one.length !== 8 || other.length !== 8) throw new PageDamage("a key is no number")
  const difference = one.readBigUInt64LE() - other.readBigUInt64LE()
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** A page that is still to be looked at, and the keys that its own must stand between. */
interface Step {
  readonly page: bigint
  readonly depth: number
  readonly compare: Compare
  readonly from: Buffer | undefined
  readonly to: Buffer | undefined
}

/** The keys of a page in order; those of a branch begin with one that is not looked at. */
const checkOrder = (nodes: ReadonlyArray<Node>, step: Step): void => {
  const { compare, from, to } = step
  const keys = nodes.slice(step.depth > 1 ? 1 : 0).map(({ key }) => key)
  for (const [index, key] of keys.entries()) {
    const before = keys[index - 1]
    const isAfter = before === undefined || compare(before, key) < 0
    const isInside =
      (from === undefined || compare(from, key) <= 0) && (to === undefined || compare(key, to) < 0)
    if (!isAfter || !isInside) throw new PageDamage("its keys are not in order")
  }
}

const rootOf = (tree: Tree, compare: Compare): ReadonlyArray<Step> =>
  tree.root === undefined
    ? []
    : [{ page: tree.root, depth: tree.depth, compare, from: undefined, to: undefined }]

/** The walk of one file. */
class Walk {
  readonly #file: number
  readonly #head: Head
  readonly #pages: bigint
  readonly #seen: Uint8Array
  readonly #steps: Array<Step>
  /** The page that is looked at, for who says what is wrong. */
  at = 0n

  constructor(file: number) {
    this.#file = file
    this.#head = readHead(file)
    const { pageBytes, trees } = this.#head
    const pages = Math.floor(fstatSync(file).size / pageBytes)
    this.#pages = BigInt(pages)
    this.#seen = new Uint8Array(Math.ceil(pages / 8))
    const [free, tables] = trees
    this.#steps = [...rootOf(free, asNumbers), ...rootOf(tables, inBytes)]
  }

  /** Looks at some pages; answers whether there are more. */
  readonly look = (count: number): boolean => {
    for (let left = count; left > 0; left -= 1) {
      const step = this.#steps.pop()
      if (step === undefined) return false
      this.#lookAt(step)
    }
    return true
  }

  #lookAt(step: Step): void {
    const isBranch = step.depth > 1
    const nodes = readNodes(this.#read(step.page, 1, this.#head.pageBytes), isBranch)
    checkOrder(nodes, step)
    for (const [index, node] of nodes.entries()) {
      if (node.child !== undefined) {
        this.#steps.push({
          ...step,
          page: node.child,
          depth: step.depth - 1,
          from: index === 0 ? step.from : node.key,
          to: nodes[index + 1]?.key ?? step.to
        })
      }
      if (node.table !== undefined) this.#steps.push(...rootOf(node.table, inBytes))
      if (node.overflow !== undefined) {
        const { page, pages } = node.overflow
        checkOverflow(this.#read(page, pages, PAGE_HEAD_BYTES), pages)
      }
    }
  }

  /** Reads the beginning of a run of pages, each of which belongs to one place alone. */
  #read(page: bigint, pages: number, length: number): PageFrame {
    this.at = page
    if (page < 2n || page + BigInt(pages) > this.#pages) {
      throw new PageDamage("it is no page of the file, which was cut or never had it")
    }
    for (let at = Number(page); at < Number(page) + pages; at += 1) {
      const bit = 1 << (at & 7)
      const seen = this.#seen[at >> 3] ?? 0
      if ((seen & bit) !== 0) throw new PageDamage("it stands in two places")
      this.#seen[at >> 3] = seen | bit
    }
    const bytes = readAt(this.#file, Number(page) * this.#head.pageBytes, length)
    return { page, bytes, transaction: this.#head.transaction }
  }
}

const said = (cause: unknown, page: bigint): string => {
  if (cause instanceof PageDamage) return `page ${page}: ${cause.message}`
  throw cause
}

/**
 * What is wrong with the trees of an open data file whose heads are LMDB's; nothing when all can be
 * walked. Reads every page of the trees once.
 */
export const damageOf = (file: number): Effect.Effect<string | undefined> =>
  Effect.gen(function* () {
    let walk: Walk | undefined
    try {
      walk = new Walk(file)
      while (walk.look(PAGES_AT_ONCE)) yield* Effect.yieldNow
      return undefined
    } catch (cause) {
      return said(cause, walk?.at ?? 0n)
    }
  })
