/**
 * One page of LMDB's data file, looked at as LMDB will read it: which follows every number that it
 * finds, into other pages and into memory that is not there.
 *
 *     page   0 number (8)   8 transaction (8)   18 flags (2)   20 lower (2)   22 upper (2)
 *            24 places of the nodes (2 each), which count from 24; the nodes from `upper` on
 *     node   0 size of the value, or number of a child page (4 + 2)   4 flags (2)   6 key size (2)
 *            8 key, then value
 */

/** Bytes of a page before its nodes' places. */
export const PAGE_HEAD_BYTES = 24
const NODE_HEAD_BYTES = 8
/** Bytes of the record of a table, which is a value of the table of tables. */
const TREE_BYTES = 48
/** Bytes that stand for a value that has pages of its own. */
const OVERFLOW_BYTES = 24
/** LMDB's own limit of a tree's height. */
const DEPTH_MAX = 32

const pageFlags = { branch: 0x01, leaf: 0x02, overflow: 0x04 } as const
/** The flags that say what a page is; the others are notes of a transaction. */
const pageKindMask = 0x6f
const nodeFlags = { overflow: 0x01, table: 0x02 } as const
/** The root of a tree without entries. */
const NO_PAGE = 0xffff_ffff_ffff_ffffn

/** What is wrong with a page. */
export class PageDamage extends Error {}

const expect: (holds: boolean, what: string) => asserts holds = (holds, what) => {
  if (!holds) throw new PageDamage(what)
}

/** A tree: the free pages, the table of tables, or a table. */
export interface Tree {
  /** None for a tree without entries. */
  readonly root: bigint | undefined
  readonly depth: number
}

/** A value that has pages of its own. */
export interface OverflowRun {
  readonly page: bigint
  readonly pages: number
}

/** Where a page stands and what it must be. */
export interface PageFrame {
  readonly page: bigint
  readonly bytes: Buffer
  /** The newest transaction of the file; a page of a later one would be written to in place. */
  readonly transaction: bigint
}

/** A node of a page. */
export interface Node {
  readonly key: Buffer
  readonly child?: bigint
  readonly overflow?: OverflowRun
  readonly table?: Tree
}

/** Reads the record of a tree at an offset. */
export const readTree = (bytes: Buffer, offset: number): Tree => {
  const depth = bytes.readUInt16LE(offset + 6)
  const root = bytes.readBigUInt64LE(offset + 40)
  expect(depth <= DEPTH_MAX, `a tree has ${depth} levels`)
  expect((root === NO_PAGE) === (depth === 0), "a tree's height is not its root's")
  return { root: root === NO_PAGE ? undefined : root, depth }
}

const checkHead = ({ bytes, page, transaction }: PageFrame, kind: number): void => {
  expect(bytes.readBigUInt64LE(0) === page, "it is not the page that belongs there")
  expect(bytes.readBigUInt64LE(8) <= transaction, "it is of a transaction that never was")
  expect((bytes.readUInt16LE(18) & pageKindMask) === kind, "it is not of the kind that is due")
}

/** Checks the first page of a value's own pages. */
export const checkOverflow = (frame: PageFrame, pages: number): void => {
  checkHead(frame, pageFlags.overflow)
  expect(frame.bytes.readUInt32LE(20) === pages, "a value has another number of pages")
}

const readOverflow = (frame: PageFrame, at: number, size: number): OverflowRun => {
  const { bytes, transaction } = frame
  const pages = Math.floor((PAGE_HEAD_BYTES - 1 + size) / bytes.length) + 1
  expect(bytes.readBigUInt64LE(at + 8) <= transaction, "a value is of no transaction")
  expect(bytes.readBigUInt64LE(at + 16) === BigInt(pages), "a value's size is not its pages'")
  return { page: bytes.readBigUInt64LE(at), pages }
}

const readValue = (frame: PageFrame, at: number, end: number): Omit<Node, "key"> => {
  const { bytes } = frame
  const size = bytes.readUInt32LE(at)
  const flags = bytes.readUInt16LE(at + 4)
  switch (flags) {
    case 0:
      expect(end + size <= bytes.length, "a value reaches over the page's end")
      return {}
    case nodeFlags.overflow:
      expect(end + OVERFLOW_BYTES <= bytes.length, "a value reaches over the page's end")
      return { overflow: readOverflow(frame, end, size) }
    case nodeFlags.table:
      expect(size === TREE_BYTES && end + size <= bytes.length, "a table has no record")
      return { table: readTree(bytes, end) }
  }
  throw new PageDamage(`a node has the flags ${flags}`)
}

const readNode = (frame: PageFrame, at: number, isBranch: boolean): Node => {
  const { bytes } = frame
  expect(at + NODE_HEAD_BYTES <= bytes.length, "a node reaches over the page's end")
  const start = at + NODE_HEAD_BYTES
  const end = start + bytes.readUInt16LE(at + 6)
  expect(end <= bytes.length, "a key reaches over the page's end")
  const key = bytes.subarray(start, end)
  return isBranch
    ? { key, child: BigInt(bytes.readUIntLE(at, 6)) }
    : { key, ...readValue(frame, at, end) }
}

/** The nodes of a page of a tree; throws {@link PageDamage} where one cannot be followed. */
export const readNodes = (frame: PageFrame, isBranch: boolean): ReadonlyArray<Node> => {
  const { bytes } = frame
  checkHead(frame, isBranch ? pageFlags.branch : pageFlags.leaf)
  const lower = bytes.readUInt16LE(20)
  const upper = bytes.readUInt16LE(22)
  const isInside = lower % 2 === 0 && lower <= upper && PAGE_HEAD_BYTES + upper <= bytes.length
  expect(isInside && lower > 0, "its bounds are wrong")
  return Array.from({ length: lower / 2 }, (_, index) => {
    const place = bytes.readUInt16LE(PAGE_HEAD_BYTES + 2 * index)
    expect(place >= upper, "a node stands among the nodes' places")
    return readNode(frame, PAGE_HEAD_BYTES + place, isBranch)
  })
}
