/** The records of one segment, from whichever holder gives its bytes right. */
import type { SegmentEntry } from "@holdfast/catalogue"
import {
  type BlockDamaged,
  blockRanges,
  decodeBlock,
  decodeSegment,
  isSelected,
  type OpenError,
  openSegment,
  type SegmentFile,
  type SegmentRecord,
  selectBlocks,
  type Selection
} from "@holdfast/segment"
import { Effect, Result } from "effect"
import type { ChunkClient } from "./chunk-client.ts"
import { type CallFailed, type ChunkUnreadable, SegmentUnreadable } from "./errors.ts"
import { segmentReading } from "./platform.ts"

/** What a segment gave: the records of the selection in order, and the blocks that are lost. */
export interface SegmentPart {
  readonly segment: SegmentEntry
  readonly records: ReadonlyArray<SegmentRecord>
  readonly damaged: ReadonlyArray<BlockDamaged>
}

/** Everything that reading one segment may fail with. */
export type SegmentReadError = CallFailed | ChunkUnreadable | SegmentUnreadable

/** Files up to this many bytes are fetched whole: one request costs less than three. */
const wholeBytesMax = 1_048_576
/** Bytes of a file's end that hold its footer nearly always. */
const tailBytes = 65_536
const rangeBytesMax = 2_097_152

const unreadable = (segment: SegmentEntry, error: OpenError): SegmentUnreadable => {
  const { archive, first, last, shard } = segment
  const message = `The segment ${first} to ${last} of "${shard}" cannot be opened: ${error.message}`
  return new SegmentUnreadable({ archive, shard, first, last, message })
}

const isWhole = (segment: SegmentEntry, selection: Selection): boolean => {
  const { from, timeFrom, timeTo, to } = selection
  return (
    (from === undefined || from <= segment.first) &&
    (to === undefined || to >= segment.last) &&
    (timeFrom === undefined || timeFrom <= segment.timeMin) &&
    (timeTo === undefined || timeTo >= segment.timeMax)
  )
}

/** Reads segments through a chunk client. */
export const makeSegmentReader = (chunks: ChunkClient["Service"]) => {
  const readWhole = Effect.fnUntraced(function* (
    segment: SegmentEntry,
    selection: Selection
  ): Effect.fn.Return<SegmentPart, SegmentReadError> {
    const bytes = yield* chunks.read({ chunk: segment.chunk })
    const decoded = decodeSegment(bytes, segmentReading)
    if (Result.isFailure(decoded)) return yield* unreadable(segment, decoded.failure)
    const { damaged, records } = decoded.success
    const all = isWhole(segment, selection)
    return {
      segment,
      records: all ? records : records.filter((record) => isSelected(record, selection)),
      damaged
    }
  })

  const open = Effect.fnUntraced(function* (
    segment: SegmentEntry
  ): Effect.fn.Return<SegmentFile, SegmentReadError> {
    const { chunk } = segment
    let start = Math.max(0, chunk.length - tailBytes)
    for (;;) {
      const range = { start, end: chunk.length }
      const isIntact = (bytes: Uint8Array) =>
        Result.isSuccess(openSegment(bytes, chunk.length, segmentReading))
      const tail = yield* chunks.read({ chunk, range, accept: isIntact })
      const opened = openSegment(tail, chunk.length, segmentReading)
      if (Result.isFailure(opened)) return yield* unreadable(segment, opened.failure)
      switch (opened.success._tag) {
        case "Opened":
          return opened.success.file
        case "NeedsMore":
          start = opened.success.range.start
      }
    }
  })

  const readRanges = Effect.fnUntraced(function* (
    segment: SegmentEntry,
    selection: Selection
  ): Effect.fn.Return<SegmentPart, SegmentReadError> {
    const { chunk } = segment
    const file = yield* open(segment)
    const records: Array<SegmentRecord> = []
    const damaged: Array<BlockDamaged> = []
    for (const { blocks, range } of blockRanges(selectBlocks(file, selection), rangeBytesMax)) {
      const decodeAll = (bytes: Uint8Array) =>
        blocks.map((block) => {
          const at = block.offset - range.start
          return decodeBlock(file, block, bytes.subarray(at, at + block.length), segmentReading)
        })
      const isIntact = (bytes: Uint8Array) => decodeAll(bytes).every(Result.isSuccess)
      const bytes = yield* chunks.read({ chunk, range, accept: isIntact })
      for (const decoded of decodeAll(bytes)) {
        if (Result.isFailure(decoded)) damaged.push(decoded.failure)
        else for (const one of decoded.success) if (isSelected(one, selection)) records.push(one)
      }
    }
    return { segment, records, damaged }
  })

  return (
    segment: SegmentEntry,
    selection: Selection
  ): Effect.Effect<SegmentPart, SegmentReadError> =>
    isWhole(segment, selection) || segment.chunk.length <= wholeBytesMax
      ? readWhole(segment, selection)
      : readRanges(segment, selection)
}
