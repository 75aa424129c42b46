/** Ordered (tag, key) records, strictly-greater cursors and merging of answers. */
export {
  compareRecords,
  compareTags,
  FIRST_KEY,
  IndexRecord,
  PartitionKey,
  Tag,
  TAG_BYTES_MAX,
  TagRefused
} from "./record.ts"
export { after, at, atTag, compareCursors, Cursor, isPast, START } from "./cursor.ts"
export { makeTagIndex, PAGE_RECORDS_MAX } from "./tag-index.ts"
export type { Page, PageOptions, TagIndex } from "./tag-index.ts"
export { hasPrefix, prefixEnd } from "./prefix.ts"
export { mergePages } from "./merge.ts"
export {
  decodeRecordKey,
  decodeRecords,
  encodeRecordKey,
  encodeRecords,
  LIST_RECORDS_MAX
} from "./codec.ts"
export { parseTag, showTag } from "./display.ts"
