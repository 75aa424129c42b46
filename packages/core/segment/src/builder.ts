/**
 * The writer: records in, one segment file out.
 *
 *     append ─▶ open block ─(full)─▶ compressed block ─▶ ... ─(seal)─▶ bytes + summary
 *
 * A builder is a mutable edit that never escapes its owner; what it seals is immutable.
 *
 * 1. Records stand in strictly increasing (position, part) order; anything else is refused and
 *    changes nothing.
 * 2. A builder keeps nothing of a record's own arrays: they may be used again after `append`.
 * 3. What is sealed decodes to exactly the records appended, byte for byte.
 */
import { Result } from "effect"
import { BlockColumns } from "./block-encode.ts"
import { ByteDictionary } from "./dictionary.ts"
import { AppendRefused, SegmentEmpty } from "./errors.ts"
import {
  type BlockEntry,
  encodeFooter,
  type Footer,
  type SegmentAttribute,
  type SegmentSummary,
  summarise
} from "./footer.ts"
import {
  encodeHeader,
  encodeTrailer,
  formatVersion,
  headerLength,
  isPlatformName
} from "./layout.ts"
import {
  attributeBytesMax,
  attributesMax,
  blockRecordsMax,
  dictionaryEntryBytesMax,
  tagNamesMax,
  type WriterLimits,
  writerLimitsDefault
} from "./limits.ts"
import type { WriterPlatform } from "./platform.ts"
import { type NewRecord, recordBytes, type RecordTag } from "./record.ts"
import { recordRefusal } from "./record-refusal.ts"
import { TagCollector } from "./tag-summary.ts"

/** What a builder is made from. Names of tags and attributes are ASCII. */
export interface BuilderOptions {
  readonly platform: WriterPlatform
  readonly limits?: Partial<WriterLimits>
  /** The tags that records may carry; each is in the summary even when no record has it. */
  readonly tagNames?: ReadonlyArray<string>
  readonly attributes?: ReadonlyArray<SegmentAttribute>
}

/** A finished segment. */
export interface SealedSegment {
  readonly bytes: Uint8Array
  /** CRC-32 of all the bytes. */
  readonly checksum: number
  readonly summary: SegmentSummary
}

const appended: Result.Result<void, AppendRefused> = Result.succeed(undefined)
const noTags: ReadonlyArray<RecordTag> = []
/** A footer below this is not compressed: it would cost more time than it saves room. */
const footerBytesPlain = 1_024

const assertThat = (condition: boolean, message: string): void => {
  if (!condition) throw new Error(`segment builder: ${message}`)
}

/** Builds one segment; see the module comment for the promises. */
export class SegmentBuilder {
  readonly #platform: WriterPlatform
  readonly #limits: WriterLimits
  readonly #attributes: ReadonlyArray<SegmentAttribute>
  readonly #dictionary: ByteDictionary
  readonly #columns: BlockColumns
  readonly #tags: TagCollector
  readonly #stored: Array<Uint8Array> = []
  readonly #blocks: Array<BlockEntry> = []
  #offset = headerLength
  #rawBytes = 0
  #count = 0
  #lastPosition = -1n
  #lastPart = 0
  #sealed = false

  constructor(options: BuilderOptions) {
    const { codec, hash } = options.platform
    this.#platform = options.platform
    this.#limits = { ...writerLimitsDefault, ...options.limits }
    this.#attributes = options.attributes ?? []
    assertThat(isPlatformName(codec.name), `"${codec.name}" cannot name a codec`)
    assertThat(isPlatformName(hash.name), `"${hash.name}" cannot name a digest`)
    assertThat(this.#attributes.length <= attributesMax, "too many attributes")
    for (const [name, value] of this.#attributes) {
      assertThat(value.length <= attributeBytesMax, `attribute "${name}" is too long`)
    }
    this.#dictionary = new ByteDictionary({
      entriesMax: this.#limits.dictionaryEntriesMax,
      entryBytesMax: dictionaryEntryBytesMax
    })
    const { blockBytes } = this.#limits
    this.#columns = new BlockColumns({ dictionary: this.#dictionary, blockBytes })
    const tagNames = options.tagNames ?? []
    assertThat(tagNames.length <= tagNamesMax, "too many tag names")
    this.#tags = new TagCollector(tagNames, this.#limits.tagValuesMax)
  }

  /** Records taken so far. */
  get count(): number {
    return this.#count
  }

  /** Bytes of subjects, headers and payloads taken so far. */
  get rawBytes(): number {
    return this.#rawBytes
  }

  /** Bytes that the closed blocks take in the file. */
  get storedBytes(): number {
    return this.#offset
  }

  /** Takes a record, amortised O(its bytes); a block that is full is compressed on the way. */
  append(
    record: NewRecord,
    tags: ReadonlyArray<RecordTag> = noTags
  ): Result.Result<void, AppendRefused> {
    assertThat(!this.#sealed, "a record came after the seal")
    const bytes = recordBytes(record)
    const refused = this.#check(record, bytes)
    if (refused !== undefined) return Result.fail(refused)
    const columns = this.#columns
    const full = columns.count >= blockRecordsMax || columns.bytes + bytes > this.#limits.blockBytes
    if (full && columns.count > 0) this.#closeBlock()
    if (!columns.append(record)) {
      this.#closeBlock()
      assertThat(columns.append(record), "an empty block refused a record")
    }
    for (let index = 0; index < tags.length; index++) {
      const tag = tags[index]!
      assertThat(this.#tags.add(tag), `the tag "${tag.name}" was not declared`)
    }
    this.#lastPosition = record.position
    this.#lastPart = record.part ?? 0
    this.#rawBytes += bytes
    this.#count++
    return appended
  }

  /** The finished file; the builder takes nothing more. */
  seal(): Result.Result<SealedSegment, SegmentEmpty> {
    assertThat(!this.#sealed, "it was sealed before")
    if (this.#count === 0) {
      return Result.fail(new SegmentEmpty({ message: "A segment without records is not written." }))
    }
    this.#sealed = true
    if (this.#columns.count > 0) this.#closeBlock()
    const { codec, crc32, hash } = this.#platform
    const footer: Footer = {
      hash: hash.name,
      rawBytes: this.#rawBytes,
      attributes: this.#attributes,
      tags: this.#tags.summary(),
      dictionary: this.#dictionary.entries,
      blocks: this.#blocks
    }
    const header = encodeHeader(crc32)
    const raw = encodeFooter(footer)
    const digest = hash.digest([header, ...this.#stored, raw.view()])
    raw.sized(digest)
    const packed = raw.length < footerBytesPlain ? raw.view() : codec.compress(raw.view())
    const footerIsCompressed = packed.length < raw.length
    const stored = footerIsCompressed ? packed : raw.view()
    const trailer = encodeTrailer(
      {
        version: formatVersion,
        codec: codec.name,
        footerOffset: this.#offset,
        footerLength: stored.length,
        footerRawLength: raw.length,
        footerChecksum: crc32(stored),
        footerIsCompressed
      },
      crc32
    )
    const bytes = concatenate([header, ...this.#stored, stored, trailer])
    return Result.succeed({
      bytes,
      checksum: crc32(bytes),
      summary: summarise(footer, digest)
    })
  }

  #closeBlock(): void {
    const { raw, facts } = this.#columns.close()
    const packed = this.#platform.codec.compress(raw)
    const compressed = packed.length < raw.length
    const stored = compressed ? packed : raw
    this.#blocks.push({
      ...facts,
      index: this.#blocks.length,
      offset: this.#offset,
      length: stored.length,
      rawLength: raw.length,
      checksum: this.#platform.crc32(stored),
      compressed
    })
    this.#stored.push(stored)
    this.#offset += stored.length
  }

  #check(record: NewRecord, bytes: number): AppendRefused | undefined {
    const { part = 0, position } = record
    if (position <= this.#lastPosition) {
      if (position < this.#lastPosition || part <= this.#lastPart) {
        const before = `${this.#lastPosition} (part ${this.#lastPart})`
        const message = `Record ${position} (part ${part}) comes behind ${before}.`
        return new AppendRefused({ reason: "OutOfOrder", position, message })
      }
    }
    return recordRefusal(record, { bytes, recordBytesMax: this.#limits.recordBytesMax })
  }
}

const concatenate = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}
