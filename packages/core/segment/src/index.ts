/**
 * The segment file format: blocks of records, compressed and checksummed apart, with a footer that
 * makes ranges cheap.
 */
export { type BuilderOptions, type SealedSegment, SegmentBuilder } from "./builder.ts"
export {
  AppendRefused,
  BlockDamaged,
  type OpenError,
  SegmentDamaged,
  SegmentEmpty,
  SegmentTooLarge,
  SegmentUnsupported
} from "./errors.ts"
export type { BlockEntry, SegmentAttribute, SegmentSummary } from "./footer.ts"
export { invariants, type Violation } from "./invariants.ts"
export { formatVersion, headerLength, trailerLength } from "./layout.ts"
export {
  blockRecordsMax,
  type ReaderLimits,
  readerLimitsDefault,
  tagValueBytesMax,
  type WriterLimits,
  writerLimitsDefault
} from "./limits.ts"
export {
  type Crc32,
  noCompression,
  type ReaderPlatform,
  type SegmentCodec,
  type SegmentHash,
  type WriterPlatform
} from "./platform.ts"
export {
  blockRanges,
  type ByteRange,
  decodeBlock,
  type DecodedSegment,
  decodeSegment,
  isSelected,
  type Opened,
  openSegment,
  type ReaderOptions,
  type SegmentFile,
  selectBlocks,
  type Selection,
  verifySegment
} from "./reader.ts"
export {
  compareBytes,
  type NewRecord,
  positionMax,
  recordBytes,
  type RecordTag,
  type SegmentHeader,
  type SegmentRecord,
  timestampMax,
  timestampMin
} from "./record.ts"
export { recordRefusal } from "./record-refusal.ts"
export type { TagValues } from "./tag-summary.ts"
