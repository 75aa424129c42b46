/** The library that a program uses: archives, search, read, verify, chunks. */
export {
  type AddArchiveOptions,
  type AdminError,
  type ArchiveAdmin,
  type ArchiveDraft,
  type ArchiveTotals
} from "./archive-admin.ts"
export { ArchiveClient, clientLayer } from "./archive-client.ts"
export type { ArchivedRecord, ReadOptions, RecordBatch } from "./archive-reader.ts"
export type { ReplayError, ReplayOptions, ReplayReport, ReplayStart } from "./archive-replay.ts"
export type { SearchError, SearchOptions } from "./archive-search.ts"
export type { Finding, VerifyError, VerifyOptions, VerifyReport } from "./archive-verify.ts"
export { type Bounds, CatalogueClient, type FoundEntry } from "./catalogue-client.ts"
export {
  ChunkClient,
  type ReadChunkOptions,
  type WriteChunkOptions,
  type WrittenChunk
} from "./chunk-client.ts"
export {
  ArchiveNotFound,
  CallFailed,
  type CatalogueError,
  CatalogueIncomplete,
  CatalogueRefused,
  ChunkUnreadable,
  ChunkUnwritten,
  FileDamaged,
  FileNotFound,
  type HolderFailure,
  InvalidRequest,
  type ReadError,
  ReplayStopped,
  SegmentUnreadable
} from "./errors.ts"
export { FileClient, type GetFileError, type UnfinishedFile } from "./file-client.ts"
export type { FileRange } from "./file-range.ts"
export type { PutFileError, PutFileOptions, StoredFile } from "./file-upload.ts"
export {
  type Allocation,
  type AllocationRequest,
  type ListedChunk,
  MetadataClient,
  type Publication
} from "./metadata-client.ts"
export {
  type FoundRecord,
  type IndexCursor,
  type IndexPage,
  type IndexRange,
  PeerClient,
  type WriteConcern
} from "./peer-client.ts"
export { cataloguePlatform, crc32, segmentReading, segmentWriting } from "./platform.ts"
export type { ReplayPace } from "./replay-pace.ts"
export { ownerAttributes, ownerOf, segmentEntryOf, type SegmentOwner } from "./segment-draft.ts"
export { type ServiceCallOptions } from "./service-call.ts"
export { ClientConfig, type ClientSettings, clientSettingsDefault } from "./settings.ts"
