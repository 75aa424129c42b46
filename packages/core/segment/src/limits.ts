/** The limits of the segment format. A limit that is met answers a typed refusal. */

/** Limits of a writer. */
export interface WriterLimits {
  /** Raw bytes at which a block is closed; one record that is larger has a block of its own. */
  readonly blockBytes: number
  /** Bytes of subject, headers and payload that one record may have. */
  readonly recordBytesMax: number
  /** Distinct subjects and header names kept in the dictionary; more are written inline. */
  readonly dictionaryEntriesMax: number
  /** Distinct values kept for each tag name before the name counts as overflowed. */
  readonly tagValuesMax: number
}

/** Limits of a reader: what a file may make it allocate. */
export interface ReaderLimits {
  readonly blockRawBytesMax: number
  readonly footerRawBytesMax: number
  readonly blocksMax: number
}

/** Records in one block at most, a constant of the format. */
export const blockRecordsMax = 65_536
/** Bytes of a dictionary entry at most; a longer subject or header name is written inline. */
export const dictionaryEntryBytesMax = 1_024
/** Bytes of one tag value in the summary at most; a longer one makes its name overflow. */
export const tagValueBytesMax = 255
/** Tag names of one segment at most. */
export const tagNamesMax = 64
/** Headers of one record at most. */
export const recordHeadersMax = 65_535
/** Attributes of one segment at most. */
export const attributesMax = 64
/** Bytes of an attribute's value at most. */
export const attributeBytesMax = 4_096

/** Sound limits for a writer. */
export const writerLimitsDefault: WriterLimits = {
  blockBytes: 256 * 1024,
  recordBytesMax: 64 * 1024 * 1024,
  dictionaryEntriesMax: 65_535,
  tagValuesMax: 256
}

/** Sound limits for a reader: what one file may make it allocate. */
export const readerLimitsDefault: ReaderLimits = {
  blockRawBytesMax: 96 * 1024 * 1024,
  footerRawBytesMax: 96 * 1024 * 1024,
  blocksMax: 1_048_576
}
