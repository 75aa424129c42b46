/** What an archive is: its name, where its records come from, and how they are kept. */
import { Schema } from "effect"
import { TagRules } from "./tag-rules.ts"

/** An archive's name: safe in a subject and as a file name. */
export const ArchiveName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, {
    expected: "1 to 64 letters, digits, '-' or '_', the first a letter or digit"
  })
)

const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const positive = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
)
const shortText = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(255))

/** When an open segment is sealed: at whichever comes first. */
export const SegmentLimits = Schema.Struct({
  /** Bytes of subjects, headers and payloads before compression. */
  bytes: Schema.Int.check(Schema.isBetween({ minimum: 1_024, maximum: 1_073_741_824 })),
  records: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000_000 })),
  ageMs: Schema.Int.check(Schema.isBetween({ minimum: 10, maximum: 86_400_000 }))
})
/** When an open segment is sealed. */
export type SegmentLimits = typeof SegmentLimits.Type

/** How blocks are compressed; the level is the codec's own. */
export const Compression = Schema.TaggedUnion({
  None: {},
  Zstd: { level: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 19 })) }
})
/** How blocks are compressed. */
export type Compression = typeof Compression.Type

/** What becomes of a record that cannot be archived. */
export const OnError = Schema.Literals(["halt", "dead-letter", "skip"])
/** What becomes of a record that cannot be archived. */
export type OnError = typeof OnError.Type

/** How aggregated messages of the KPL are archived: as they are, or as their user records. */
export const Aggregation = Schema.Literals(["none", "kpl", "kpl-and-private"])
/** How aggregated messages of the KPL are archived. */
export type Aggregation = typeof Aggregation.Type

/**
 * What the source is told of what is archived: nothing, so that it keeps nothing for the archive;
 * or how far it is, so that the source's own tools show that.
 */
export const Acknowledgement = Schema.Literals(["none", "watermark"])
/** What the source is told of what is archived. */
export type Acknowledgement = typeof Acknowledgement.Type

/** What can be changed while the archive lives. */
export const ArchiveSettings = Schema.Struct({
  segments: SegmentLimits,
  /** Copies of each segment, on devices of distinct hosts where there are enough. */
  goal: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 15 })),
  compression: Compression,
  tags: TagRules,
  /** Distinct values of one tag that a segment is indexed by; more make it match any value. */
  tagValuesMax: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 256 })),
  /** Segments whose newest record is older than this are removed; absent keeps them for ever. */
  keepMs: Schema.optionalKey(positive),
  onError: OnError,
  /** The stream for records that were given up; needed when `onError` says so. */
  deadLetter: Schema.optionalKey(shortText)
}).check(
  Schema.makeFilter(
    ({ deadLetter, onError }) =>
      onError !== "dead-letter" ||
      deadLetter !== undefined ||
      'a "deadLetter" stream, since "onError" is "dead-letter"'
  )
)
/** What can be changed while the archive lives. */
export type ArchiveSettings = typeof ArchiveSettings.Type

/** A stream's own configuration as its server tells it: JSON, of any server's version. */
export const StreamConfiguration = Schema.String.check(
  Schema.isMinLength(2),
  Schema.isMaxLength(262_144)
)

/** An archive as it is created. */
export const ArchiveOrigin = Schema.Struct({
  name: ArchiveName,
  /** The stream that it archives. */
  stream: shortText,
  /** Only subjects that match; absent for all. */
  filter: Schema.optionalKey(shortText),
  /**
   * Whether messages are opened; absent when not. It is for life: the same position must mean the
   * same records whenever it is read.
   */
  aggregation: Schema.optionalKey(Aggregation),
  /** Absent for none. */
  acknowledgement: Schema.optionalKey(Acknowledgement),
  /** The shards it is read as; empty for those that the source names. */
  shards: Schema.Array(shortText).check(Schema.isMaxLength(1_024)),
  /** The file whose chunks are its segments; a later life of the same name has a higher one. */
  fileId: positive,
  /** Nanoseconds since 1970. */
  created: Schema.BigInt,
  /** The stream's own configuration as it was last seen, to create it again from. */
  streamConfiguration: Schema.optionalKey(StreamConfiguration)
})
/** An archive as it is created. */
export type ArchiveOrigin = typeof ArchiveOrigin.Type

/** What an archive is doing. */
export const ArchiveStatus = Schema.Literals(["active", "paused", "removed"])
/** What an archive is doing. */
export type ArchiveStatus = typeof ArchiveStatus.Type

/** An archive as the catalogue keeps it. */
export const ArchiveEntry = Schema.Struct({
  origin: ArchiveOrigin,
  settings: ArchiveSettings,
  status: ArchiveStatus,
  /** Counts the changes of settings; a change names the revision that it was made from. */
  revision: count,
  /** Counts the changes of the tag rules: segments say under which they were sealed. */
  rules: count,
  /** For each rule's name, the count of rules from which on it stands as it does now. */
  rulesSince: Schema.Record(Schema.String, count)
})
/** An archive as the catalogue keeps it. */
export type ArchiveEntry = typeof ArchiveEntry.Type

/** Settings of an archive for which nothing was said. */
export const archiveSettingsDefault: ArchiveSettings = {
  segments: { bytes: 8 * 1024 * 1024, records: 1_000_000, ageMs: 10_000 },
  goal: 2,
  compression: { _tag: "Zstd", level: 3 },
  tags: [],
  tagValuesMax: 64,
  onError: "halt"
}
