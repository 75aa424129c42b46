/** What can happen to an entry of the catalogue, what it answers, and what it is. */
import { Schema } from "effect"
import {
  ArchiveEntry,
  ArchiveOrigin,
  ArchiveSettings,
  StreamConfiguration
} from "./archive-settings.ts"
import { FileEntry, fileLeftoversMax, FileName } from "./file-entry.ts"
import { SegmentChunk, SegmentEntry } from "./segment-entry.ts"

/** Why a segment goes: its time is over, others cover it wholly, or its archive was removed. */
export const ExpiryReason = Schema.Literals(["retention", "covered", "removed"])
/** Why a segment goes. */
export type ExpiryReason = typeof ExpiryReason.Type

const FileIds = Schema.Array(Schema.Int).check(Schema.isMaxLength(fileLeftoversMax))

/** What can happen: to segments, to archives, to plain files. */
export const CatalogueEvent = Schema.TaggedUnion({
  /** A segment is durable on its devices and committed. */
  Sealed: { segment: SegmentEntry },
  /** A segment goes; its chunk is to be freed by whoever is answered so. */
  Expired: { chunk: SegmentChunk, reason: ExpiryReason },
  /** Another chunk takes the place of the one named, of the same records at least. */
  Replaced: { replaces: SegmentChunk, segment: SegmentEntry },
  Created: { origin: ArchiveOrigin, settings: ArchiveSettings },
  /** New settings, made from those of `revision`. */
  Changed: { fileId: Schema.Int, revision: Schema.Int, settings: ArchiveSettings },
  /** The stream has this configuration now. */
  Described: { fileId: Schema.Int, configuration: StreamConfiguration },
  Paused: { fileId: Schema.Int },
  Resumed: { fileId: Schema.Int },
  Removed: { fileId: Schema.Int },
  /** A put of a plain file is about to write chunks under a file id. */
  Begun: { name: FileName, fileId: Schema.Int },
  /** A plain file is stored; it takes the place of an older one of its name. */
  Stored: { file: FileEntry },
  /** A plain file goes, with all puts of its name up to a file id; their chunks are to be freed. */
  Deleted: { name: FileName, fileId: Schema.Int },
  /** Puts of a name, up to a file id, have stood still too long; the name's file stays. */
  GivenUp: { name: FileName, fileId: Schema.Int },
  /** The chunks of these file ids, which an answer had named, are freed. */
  Freed: { name: FileName, fileIds: FileIds }
})
/** What can happen. */
export type CatalogueEvent = typeof CatalogueEvent.Type

/** Why an event changed nothing. */
export const RefusalReason = Schema.Literals([
  "wrong-partition",
  "not-found",
  "exists",
  "removed",
  "expired",
  "conflict"
])
/** Why an event changed nothing. */
export type RefusalReason = typeof RefusalReason.Type

/**
 * What an event answers. `free` are chunks that no entry refers to any more because of it: once the
 * write is confirmed, whoever sent it frees them; freeing twice is no harm.
 */
export const CatalogueOutput = Schema.TaggedUnion({
  Accepted: {
    free: Schema.Array(SegmentChunk),
    /** A plain file that is referred to no more: all of its chunks can be freed. */
    freeFile: Schema.optionalKey(Schema.Int),
    /** Further ones of this name, which earlier senders left behind. */
    freeFiles: Schema.optionalKey(FileIds)
  },
  /** The same had happened before. */
  Unchanged: {},
  /** Another segment with this key stays; the one in the event is superfluous. */
  Covered: { winner: SegmentChunk, free: Schema.Array(SegmentChunk) },
  Refused: { reason: RefusalReason, message: Schema.String }
})
/** What an event answers. */
export type CatalogueOutput = typeof CatalogueOutput.Type

/** An entry of the catalogue. An expired segment keeps its chunk, so that a repeat is known. */
export const CatalogueState = Schema.TaggedUnion({
  Empty: {},
  Segment: { segment: SegmentEntry },
  ExpiredSegment: {
    archive: Schema.String,
    shard: Schema.String,
    first: Schema.BigInt,
    last: Schema.BigInt,
    chunk: SegmentChunk,
    reason: ExpiryReason
  },
  Archive: { archive: ArchiveEntry },
  /**
   * `leftovers` are file ids of the name whose chunks may still be there, `givenUp` the highest id
   * above the file's that no put may end any more; see `named-file.ts`.
   */
  File: {
    file: FileEntry,
    leftovers: Schema.optionalKey(FileIds),
    givenUp: Schema.optionalKey(Schema.Int)
  },
  /**
   * A name without a file: it remembers the highest file id that was deleted or given up, 0 for
   * none, so that a late repeat is known.
   */
  DeletedFile: {
    name: FileName,
    fileId: Schema.Int,
    leftovers: Schema.optionalKey(FileIds)
  }
})
/** An entry of the catalogue. */
export type CatalogueState = typeof CatalogueState.Type

/** What an event leads to. */
export interface Applied {
  readonly output: CatalogueOutput
  readonly state: CatalogueState
}
