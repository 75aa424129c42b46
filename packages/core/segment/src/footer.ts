/**
 * The footer: everything about a segment but its records.
 *
 * Raw layout: digest name; raw bytes of the records; attributes; tag names with their values;
 * dictionary; block count; for each block its stored and raw length, CRC-32, whether it is
 * compressed, and its facts; the digest, over the header, the stored blocks and the raw footer up
 * to here. What the blocks add up to (count, range, times) is computed, so that it cannot
 * contradict them.
 */
import { blockRecordsMax, tagNamesMax, attributesMax } from "./limits.ts"
import { ByteCursor } from "./byte-cursor.ts"
import type { BlockFacts } from "./block-encode.ts"
import { GrowingBytes } from "./growing-bytes.ts"
import { asciiBytes, asciiText, headerLength } from "./layout.ts"
import type { TagValues } from "./tag-summary.ts"
import { wideToBytes } from "./words.ts"

/** One block: where it is and what it holds. `length` bytes are stored from `offset` on. */
export interface BlockEntry extends BlockFacts {
  readonly index: number
  readonly offset: number
  readonly length: number
  readonly rawLength: number
  readonly checksum: number
  readonly compressed: boolean
}

/** A name and a value that the writer gave the file, for whoever finds it without a catalogue. */
export type SegmentAttribute = readonly [name: string, value: Uint8Array]

/** What a segment holds, as its writer and its readers see it. */
export interface SegmentSummary {
  readonly count: number
  readonly first: bigint
  readonly last: bigint
  readonly timeMin: bigint
  readonly timeMax: bigint
  /** Bytes of subjects, headers and payloads before compression. */
  readonly rawBytes: number
  readonly tags: ReadonlyArray<TagValues>
  readonly attributes: ReadonlyArray<SegmentAttribute>
  readonly hash: string
  readonly digest: Uint8Array
}

/** The raw footer without its digest, and everything that stands in it. */
export interface Footer {
  readonly hash: string
  readonly rawBytes: number
  readonly attributes: ReadonlyArray<SegmentAttribute>
  readonly tags: ReadonlyArray<TagValues>
  readonly dictionary: ReadonlyArray<Uint8Array>
  readonly blocks: ReadonlyArray<BlockEntry>
}

const encodeBlock = (into: GrowingBytes, block: BlockEntry): void => {
  into.varint(block.length)
  into.varint(block.rawLength)
  into.word32(block.checksum)
  into.byte(block.compressed ? 1 : 0)
  into.varint(block.count)
  into.sized(wideToBytes(block.first))
  into.sized(wideToBytes(block.last))
  into.int64(block.timeMin)
  into.int64(block.timeMax)
}

/** Everything of the raw footer that the digest is taken over. */
export const encodeFooter = (footer: Footer): GrowingBytes => {
  const into = new GrowingBytes(1_024)
  into.sized(asciiBytes(footer.hash))
  into.varint(footer.rawBytes)
  into.varint(footer.attributes.length)
  for (const [name, value] of footer.attributes) {
    into.sized(asciiBytes(name))
    into.sized(value)
  }
  into.varint(footer.tags.length)
  for (const tag of footer.tags) {
    into.sized(asciiBytes(tag.name))
    into.byte(tag.overflowed ? 1 : 0)
    into.varint(tag.values.length)
    for (const value of tag.values) into.sized(value)
  }
  into.varint(footer.dictionary.length)
  for (const entry of footer.dictionary) into.sized(entry)
  into.varint(footer.blocks.length)
  for (const block of footer.blocks) encodeBlock(into, block)
  return into
}

const decodeBlock = (
  cursor: ByteCursor,
  at: { readonly index: number; readonly offset: number }
): BlockEntry => {
  const length = cursor.varint()
  const rawLength = cursor.varint()
  const checksum = cursor.word32()
  const compressed = cursor.byte() === 1
  const count = cursor.varint()
  const first = cursor.wide()
  const last = cursor.wide()
  const timeMin = cursor.int64()
  const timeMax = cursor.int64()
  return { ...at, length, rawLength, checksum, compressed, count, first, last, timeMin, timeMax }
}

const decodeTags = (cursor: ByteCursor): Array<TagValues> => {
  const tags: Array<TagValues> = []
  const count = cursor.varint()
  if (count > tagNamesMax) cursor.failed = true
  while (tags.length < count && !cursor.failed) {
    const name = asciiText(cursor.sized())
    const overflowed = cursor.byte() === 1
    const values: Array<Uint8Array> = []
    const valueCount = cursor.varint()
    while (values.length < valueCount && !cursor.failed) values.push(cursor.sized())
    tags.push({ name, overflowed, values })
  }
  return tags
}

const decodeAttributes = (cursor: ByteCursor): Array<SegmentAttribute> => {
  const attributes: Array<SegmentAttribute> = []
  const count = cursor.varint()
  if (count > attributesMax) cursor.failed = true
  while (attributes.length < count && !cursor.failed) {
    attributes.push([asciiText(cursor.sized()), cursor.sized()])
  }
  return attributes
}

const blockIsPossible = (block: BlockEntry, before: BlockEntry | undefined): boolean =>
  block.count >= 1 &&
  block.count <= blockRecordsMax &&
  block.first <= block.last &&
  block.timeMin <= block.timeMax &&
  (block.compressed || block.length === block.rawLength) &&
  (before === undefined || before.last <= block.first)

/**
 * Reads a raw footer whose blocks must fill the file from the header to `footerOffset` exactly.
 *
 * Answers the footer, its digest and where the digested bytes end; or what is wrong.
 */
export const decodeFooter = (
  raw: Uint8Array,
  expected: { readonly footerOffset: number; readonly blocksMax: number }
):
  | { readonly footer: Footer; readonly digest: Uint8Array; readonly digestedEnd: number }
  | string => {
  const cursor = new ByteCursor(raw)
  const hash = asciiText(cursor.sized())
  const rawBytes = cursor.varint()
  const attributes = decodeAttributes(cursor)
  const tags = decodeTags(cursor)
  const dictionary: Array<Uint8Array> = []
  const entries = cursor.varint()
  while (dictionary.length < entries && !cursor.failed)
    dictionary.push(new Uint8Array(cursor.sized()))
  const blocks: Array<BlockEntry> = []
  const count = cursor.varint()
  if (count > expected.blocksMax) return `it names ${count} blocks`
  let offset = headerLength
  while (blocks.length < count && !cursor.failed) {
    const block = decodeBlock(cursor, { index: blocks.length, offset })
    if (cursor.failed) break
    if (!blockIsPossible(block, blocks.at(-1))) return `block ${blocks.length} contradicts itself`
    offset += block.length
    blocks.push(block)
  }
  const digestedEnd = cursor.offset
  const digest = new Uint8Array(cursor.sized())
  if (!cursor.finished) return "it cannot be read to its end"
  if (blocks.length === 0) return "it names no block"
  if (offset !== expected.footerOffset) return "its blocks do not fill the file"
  return { footer: { hash, rawBytes, attributes, tags, dictionary, blocks }, digest, digestedEnd }
}

/** What the blocks of a footer add up to. */
export const summarise = (footer: Footer, digest: Uint8Array): SegmentSummary => {
  const { blocks } = footer
  let timeMin = blocks[0]!.timeMin
  let timeMax = blocks[0]!.timeMax
  let count = 0
  for (const block of blocks) {
    count += block.count
    if (block.timeMin < timeMin) timeMin = block.timeMin
    if (block.timeMax > timeMax) timeMax = block.timeMax
  }
  return {
    count,
    first: blocks[0]!.first,
    last: blocks.at(-1)!.last,
    timeMin,
    timeMax,
    rawBytes: footer.rawBytes,
    tags: footer.tags,
    attributes: footer.attributes,
    hash: footer.hash,
    digest
  }
}
