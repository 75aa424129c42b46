/** What the segment format needs of the platform, passed in as plain functions. */

/** A compressor by the name that is written into the file: up to 8 of a-z, 0-9 and `-`. */
export interface SegmentCodec {
  readonly name: string
  readonly compress: (raw: Uint8Array) => Uint8Array
  /** Must not produce more than `rawLength` bytes, whatever it is given; may throw on bad input. */
  readonly decompress: (stored: Uint8Array, rawLength: number) => Uint8Array
}

/** A digest over the concatenation of parts, by the name that is written into the file. */
export interface SegmentHash {
  readonly name: string
  readonly digest: (parts: ReadonlyArray<Uint8Array>) => Uint8Array
}

/** CRC-32 (the zlib polynomial) of bytes, as an unsigned 32-bit number. */
export type Crc32 = (bytes: Uint8Array) => number

/** What a writer is given. */
export interface WriterPlatform {
  readonly crc32: Crc32
  readonly codec: SegmentCodec
  readonly hash: SegmentHash
}

/** What a reader is given: every codec and digest that its files may name. */
export interface ReaderPlatform {
  readonly crc32: Crc32
  readonly codecs: ReadonlyArray<SegmentCodec>
  readonly hashes: ReadonlyArray<SegmentHash>
}

/** The codec that stores bytes as they are. */
export const noCompression: SegmentCodec = {
  name: "none",
  compress: (raw) => raw,
  decompress: (stored) => stored
}
