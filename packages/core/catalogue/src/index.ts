/** The archive's partition application: segments, archives, retention, and their tags. */
export { applyEvent, catalogueName, makeCatalogue } from "./application.ts"
export { isSameChunk } from "./apply-segment.ts"
export {
  Acknowledgement,
  Aggregation,
  ArchiveEntry,
  ArchiveName,
  ArchiveOrigin,
  ArchiveSettings,
  archiveSettingsDefault,
  ArchiveStatus,
  Compression,
  OnError,
  SegmentLimits,
  StreamConfiguration
} from "./archive-settings.ts"
export {
  type Applied,
  CatalogueEvent,
  CatalogueOutput,
  CatalogueState,
  ExpiryReason,
  RefusalReason
} from "./events.ts"
export {
  type CatalogueTagIndex,
  chunkIdOfTag,
  classesFrom,
  intervalClass,
  type IntervalWalk,
  makeTagIndex,
  type Measure,
  overlapping,
  readIntervalTag,
  type TagRange
} from "./index-tags.ts"
export { FileEntry, FileName, fileChunksMax, fileLeftoversMax } from "./file-entry.ts"
export { invariants, type Violation } from "./invariants.ts"
export { freeableFiles, type NamedFile, namedFileOf, unfinishedFiles } from "./named-file.ts"
export { archiveKey, fileKey, type SegmentIdentity, segmentKey } from "./partition-keys.ts"
export type { CataloguePlatform, Sha256, TextCodec } from "./platform.ts"
export {
  isBehind,
  readReplayId,
  type Replay,
  replayId,
  replayIdPrefix,
  replayOf,
  type ReplayPlace,
  replayShardOf,
  type ReplaySelection
} from "./replay-id.ts"
export {
  planRestore,
  type RestorePlan,
  RestorePlanError,
  type RestoredRecords
} from "./restore-plan.ts"
export { SegmentChunk, SegmentEntry, SegmentTag } from "./segment-entry.ts"
export {
  parseTagRule,
  subjectTag,
  TagOrder,
  TagRule,
  TagRuleError,
  TagRules,
  tagRulesMax,
  TagSource
} from "./tag-rules.ts"
export {
  canonicalBytesMax,
  canonicalQuery,
  canonicalText,
  type DrawnTag,
  drawnNames,
  makeTagDrawer,
  makeTagFilter,
  type TaggedRecord,
  TagValueError
} from "./tag-values.ts"
