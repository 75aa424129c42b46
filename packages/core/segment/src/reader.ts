/**
 * The reader: opens a file from its end, says which bytes a range needs, and decodes them.
 *
 *     last 44 bytes ─▶ trailer ─▶ footer ─▶ SegmentFile ─▶ selectBlocks ─▶ bytes ─▶ records
 *
 * 1. Nothing is believed before its checksum is right, and nothing is allocated beyond the limits.
 * 2. A damaged block costs its own records: the others decode, and the error names what is lost.
 * 3. A file of any older format version opens; a newer one answers `SegmentUnsupported`.
 */
import { Result } from "effect"
import { decodeColumns } from "./block-decode.ts"
import { BlockDamaged, type OpenError } from "./errors.ts"
import { SegmentDamaged, SegmentTooLarge, SegmentUnsupported } from "./errors.ts"
import { type BlockEntry, decodeFooter, type SegmentSummary, summarise } from "./footer.ts"
import { decodeHeader, decodeTrailer, headerLength, type Trailer, trailerLength } from "./layout.ts"
import { type ReaderLimits, readerLimitsDefault } from "./limits.ts"
import type { ReaderPlatform, SegmentCodec } from "./platform.ts"
import { compareBytes, type SegmentRecord } from "./record.ts"

/** Bytes of a file from `start` up to and without `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** How files are read. */
export interface ReaderOptions {
  readonly platform: ReaderPlatform
  readonly limits?: Partial<ReaderLimits>
}

/** An opened segment: everything but its records. */
export interface SegmentFile {
  readonly length: number
  readonly version: number
  readonly codec: SegmentCodec
  readonly summary: SegmentSummary
  readonly blocks: ReadonlyArray<BlockEntry>
  /** Subjects and header names, the very arrays that decoded records refer to. */
  readonly dictionary: ReadonlyArray<Uint8Array>
  /** The raw footer up to the digest: the last part that the digest is taken over. */
  readonly digested: Uint8Array
}

/** An opened file, or the range that must be there as well before it can be opened. */
export type Opened =
  | { readonly _tag: "Opened"; readonly file: SegmentFile }
  | { readonly _tag: "NeedsMore"; readonly range: ByteRange }

/** What to select; each bound is inclusive and each may be left out. */
export interface Selection {
  readonly from?: bigint | undefined
  readonly to?: bigint | undefined
  readonly timeFrom?: bigint | undefined
  readonly timeTo?: bigint | undefined
}

const trailerRange = (fileLength: number): ByteRange => ({
  start: Math.max(0, fileLength - trailerLength),
  end: fileLength
})

const footerDamaged = (message: string) => new SegmentDamaged({ part: "footer", message })

const unpack = (
  stored: Uint8Array,
  options: { readonly rawLength: number; readonly codec: SegmentCodec | undefined }
): Uint8Array | undefined => {
  try {
    const { codec, rawLength } = options
    const raw = codec === undefined ? stored : codec.decompress(stored, rawLength)
    // A plain view: a subclass such as Buffer would make other arrays of what is cut from it.
    return raw.length === rawLength
      ? new Uint8Array(raw.buffer, raw.byteOffset, rawLength)
      : undefined
  } catch {
    return undefined
  }
}

const openFooter = (
  trailer: Trailer,
  stored: Uint8Array,
  options: ReaderOptions
): Result.Result<SegmentFile, OpenError> => {
  const { platform } = options
  const limits = { ...readerLimitsDefault, ...options.limits }
  if (platform.crc32(stored) !== trailer.footerChecksum) {
    return Result.fail(footerDamaged("The checksum of the footer is wrong."))
  }
  const codec = platform.codecs.find((known) => known.name === trailer.codec)
  if (codec === undefined) return Result.fail(unknownPlatform("codec", trailer.codec))
  if (trailer.footerRawLength > limits.footerRawBytesMax) {
    const limit = limits.footerRawBytesMax
    return Result.fail(tooLarge("footer", { value: trailer.footerRawLength, limit }))
  }
  const raw = unpack(stored, {
    rawLength: trailer.footerRawLength,
    codec: trailer.footerIsCompressed ? codec : undefined
  })
  if (raw === undefined) return Result.fail(footerDamaged("The footer cannot be decompressed."))
  const decoded = decodeFooter(raw, {
    footerOffset: trailer.footerOffset,
    blocksMax: limits.blocksMax
  })
  if (typeof decoded === "string") {
    return Result.fail(footerDamaged(`The footer is malformed: ${decoded}.`))
  }
  const { digest, digestedEnd, footer } = decoded
  for (const { rawLength } of footer.blocks) {
    if (rawLength > limits.blockRawBytesMax) {
      return Result.fail(tooLarge("block", { value: rawLength, limit: limits.blockRawBytesMax }))
    }
  }
  return Result.succeed({
    length: trailer.footerOffset + trailer.footerLength + trailerLength,
    version: trailer.version,
    codec,
    summary: summarise(footer, digest),
    blocks: footer.blocks,
    dictionary: footer.dictionary,
    digested: raw.subarray(0, digestedEnd)
  })
}

const unknownPlatform = (what: "codec" | "hash", name: string) =>
  new SegmentUnsupported({ what, name, message: `The reader was given no ${what} "${name}".` })

const tooLarge = (
  what: "block" | "footer",
  sizes: { readonly value: number; readonly limit: number }
) =>
  new SegmentTooLarge({
    what,
    ...sizes,
    message: `A ${what} claims ${sizes.value} raw bytes; this reader takes ${sizes.limit}.`
  })

/**
 * Opens a file from its last bytes.
 *
 * `tail` are the bytes from some offset to the end, at least 44 (or the whole file): with 64 KiB
 * one request is enough nearly always; else `NeedsMore` names the range from the footer on.
 */
export const openSegment = (
  tail: Uint8Array,
  fileLength: number,
  options: ReaderOptions
): Result.Result<Opened, OpenError> => {
  const { end, start } = trailerRange(fileLength)
  if (tail.length > fileLength) {
    const message = `The tail has ${tail.length} bytes, the file only ${fileLength}.`
    return Result.fail(new SegmentDamaged({ part: "trailer", message }))
  }
  if (tail.length < end - start) {
    return Result.succeed({ _tag: "NeedsMore", range: { start, end } })
  }
  const trailerBytes = tail.subarray(tail.length - (end - start))
  const trailer = decodeTrailer(trailerBytes, fileLength, options.platform.crc32)
  if (Result.isFailure(trailer)) return Result.fail(trailer.failure)
  const tailOffset = fileLength - tail.length
  const { footerLength, footerOffset } = trailer.success
  if (footerOffset < tailOffset) {
    return Result.succeed({ _tag: "NeedsMore", range: { start: footerOffset, end: fileLength } })
  }
  const at = footerOffset - tailOffset
  const file = openFooter(trailer.success, tail.subarray(at, at + footerLength), options)
  if (Result.isFailure(file)) return Result.fail(file.failure)
  return Result.succeed({ _tag: "Opened", file: file.success })
}

/** The blocks that may hold a record of the selection, in order. */
export const selectBlocks = (
  file: SegmentFile,
  selection: Selection
): ReadonlyArray<BlockEntry> => {
  const { from, timeFrom, timeTo, to } = selection
  return file.blocks.filter(
    (block) =>
      (from === undefined || block.last >= from) &&
      (to === undefined || block.first <= to) &&
      (timeFrom === undefined || block.timeMax >= timeFrom) &&
      (timeTo === undefined || block.timeMin <= timeTo)
  )
}

/** Whether a record is of the selection. */
export const isSelected = (record: SegmentRecord, selection: Selection): boolean =>
  (selection.from === undefined || record.position >= selection.from) &&
  (selection.to === undefined || record.position <= selection.to) &&
  (selection.timeFrom === undefined || record.timestamp >= selection.timeFrom) &&
  (selection.timeTo === undefined || record.timestamp <= selection.timeTo)

/** Neighbouring blocks as ranges of at most about `bytesMax`, each fetched by one request. */
export const blockRanges = (
  blocks: ReadonlyArray<BlockEntry>,
  bytesMax: number
): ReadonlyArray<{ readonly range: ByteRange; readonly blocks: ReadonlyArray<BlockEntry> }> => {
  const ranges: Array<{ range: ByteRange; blocks: Array<BlockEntry> }> = []
  for (const block of blocks) {
    const end = block.offset + block.length
    const open = ranges.at(-1)
    if (
      open !== undefined &&
      open.range.end === block.offset &&
      end - open.range.start <= bytesMax
    ) {
      open.range = { start: open.range.start, end }
      open.blocks.push(block)
    } else {
      ranges.push({ range: { start: block.offset, end }, blocks: [block] })
    }
  }
  return ranges
}

/** The records of one block from its stored bytes, in order. */
export const decodeBlock = (
  file: SegmentFile,
  block: BlockEntry,
  stored: Uint8Array,
  options: ReaderOptions
): Result.Result<ReadonlyArray<SegmentRecord>, BlockDamaged> => {
  const fail = (reason: BlockDamaged["reason"], message: string) => {
    const { count, first, index, last } = block
    const lost = `Block ${index} (${count} records, ${first} to ${last})`
    const error = { block: index, reason, first, last, count, message: `${lost} ${message}.` }
    return Result.fail(new BlockDamaged(error))
  }
  if (stored.length !== block.length) {
    return fail("length", `has ${stored.length} bytes instead of ${block.length}`)
  }
  if (options.platform.crc32(stored) !== block.checksum) {
    return fail("checksum", "has a wrong checksum")
  }
  const codec = block.compressed ? file.codec : undefined
  const raw = unpack(stored, { rawLength: block.rawLength, codec })
  if (raw === undefined) return fail("compression", "cannot be decompressed")
  const records = decodeColumns(raw, block, {
    dictionary: file.dictionary,
    payloadBytesMax: { ...readerLimitsDefault, ...options.limits }.blockRawBytesMax
  })
  if (typeof records === "string") return fail("content", `is malformed: ${records}`)
  return Result.succeed(records)
}

/** Everything of a file: its records in order, and the blocks whose records are lost. */
export interface DecodedSegment {
  readonly file: SegmentFile
  readonly records: ReadonlyArray<SegmentRecord>
  readonly damaged: ReadonlyArray<BlockDamaged>
}

const openWhole = (
  bytes: Uint8Array,
  options: ReaderOptions
): Result.Result<SegmentFile, OpenError> => {
  const header = decodeHeader(bytes, options.platform.crc32)
  if (Result.isFailure(header)) return Result.fail(header.failure)
  const opened = openSegment(bytes, bytes.length, options)
  if (Result.isFailure(opened)) return Result.fail(opened.failure)
  switch (opened.success._tag) {
    case "Opened":
      return Result.succeed(opened.success.file)
    case "NeedsMore":
      return Result.fail(footerDamaged("The file is shorter than its trailer says."))
  }
}

/** Decodes a whole file that is at hand. Checks each block; the digest is `verifySegment`'s. */
export const decodeSegment = (
  bytes: Uint8Array,
  options: ReaderOptions
): Result.Result<DecodedSegment, OpenError> => {
  const opened = openWhole(bytes, options)
  if (Result.isFailure(opened)) return Result.fail(opened.failure)
  const file = opened.success
  const records: Array<SegmentRecord> = []
  const damaged: Array<BlockDamaged> = []
  for (const block of file.blocks) {
    const stored = bytes.subarray(block.offset, block.offset + block.length)
    const decoded = decodeBlock(file, block, stored, options)
    if (Result.isFailure(decoded)) damaged.push(decoded.failure)
    else for (const record of decoded.success) records.push(record)
  }
  return Result.succeed({ file, records, damaged })
}

/** Decodes a whole file and checks its digest and that what it says of itself is true. */
export const verifySegment = (
  bytes: Uint8Array,
  options: ReaderOptions
): Result.Result<DecodedSegment, OpenError> => {
  const decoded = decodeSegment(bytes, options)
  if (Result.isFailure(decoded)) return decoded
  const { file } = decoded.success
  const { digest, hash } = file.summary
  const known = options.platform.hashes.find((candidate) => candidate.name === hash)
  if (known === undefined) return Result.fail(unknownPlatform("hash", hash))
  const footerOffset = file.blocks.at(-1)!.offset + file.blocks.at(-1)!.length
  const blocks = bytes.subarray(headerLength, footerOffset)
  const actual = known.digest([bytes.subarray(0, headerLength), blocks, file.digested])
  if (compareBytes(actual, digest) === 0) return decoded
  const message = `The ${hash} digest of the file is not the one written in it.`
  return Result.fail(new SegmentDamaged({ part: "digest", message }))
}
