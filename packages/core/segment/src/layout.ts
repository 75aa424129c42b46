/**
 * The fixed parts of a segment file.
 *
 *     header 16 | block | block | ... | footer | trailer 44
 *
 * Header: magic (8), version (2), flags (2), CRC-32 of those (4). Trailer: codec name (8, zero
 * padded), offset of the footer (8), its stored length (4), its raw length (4), CRC-32 of its
 * stored bytes (4), version (2), flags (2), CRC-32 of those (4), magic (8). All numbers are
 * big-endian.
 */
import { Result } from "effect"
import { SegmentDamaged, SegmentUnsupported } from "./errors.ts"
import { ByteCursor } from "./byte-cursor.ts"
import { GrowingBytes } from "./growing-bytes.ts"
import type { Crc32 } from "./platform.ts"
import { wordWeight } from "./words.ts"

/** The version that is written. Every version up to it is read. */
export const formatVersion = 1
/** Bytes of the header. */
export const headerLength = 16
/** Bytes of the trailer. */
export const trailerLength = 44

const headerMagic = Uint8Array.of(0x48, 0x4f, 0x4c, 0x44, 0x53, 0x45, 0x47, 0x0a)
const trailerMagic = Uint8Array.of(0x0a, 0x47, 0x45, 0x53, 0x44, 0x4c, 0x4f, 0x48)
const codecNameBytes = 8
const namePattern = /^[a-z][a-z0-9-]{0,7}$/

/** Bit of the trailer's flags: the footer is compressed with the codec. */
export const footerCompressed = 1

/** What the trailer says. */
export interface Trailer {
  readonly version: number
  readonly codec: string
  readonly footerOffset: number
  readonly footerLength: number
  readonly footerRawLength: number
  readonly footerChecksum: number
  readonly footerIsCompressed: boolean
}

/** Whether a codec or digest name can be written into a file. */
export const isPlatformName = (name: string): boolean => namePattern.test(name)

const startsWith = (bytes: Uint8Array, prefix: Uint8Array): boolean =>
  prefix.every((byte, index) => bytes[index] === byte)

const damaged = (part: "header" | "trailer", message: string) =>
  Result.fail(new SegmentDamaged({ part, message }))

const unsupportedVersion = (version: number) =>
  Result.fail(
    new SegmentUnsupported({
      what: "version",
      name: String(version),
      message: `The format version is ${version}; this reader knows 1 to ${formatVersion}.`
    })
  )

/** The text of ASCII bytes. */
export const asciiText = (bytes: Uint8Array): string => String.fromCharCode(...bytes)

/** The bytes of an ASCII text. */
export const asciiBytes = (text: string): Uint8Array =>
  Uint8Array.from(text, (character) => character.charCodeAt(0))

/** The header's 16 bytes. */
export const encodeHeader = (crc32: Crc32): Uint8Array => {
  const bytes = new GrowingBytes(headerLength)
  bytes.raw(headerMagic)
  bytes.word32(formatVersion * 0x1_0000)
  bytes.word32(crc32(bytes.view()))
  return bytes.view()
}

/** Checks the header; needs its 16 bytes. */
export const decodeHeader = (
  bytes: Uint8Array,
  crc32: Crc32
): Result.Result<number, SegmentDamaged | SegmentUnsupported> => {
  if (bytes.length < headerLength) {
    return damaged("header", `The file has ${bytes.length} bytes; a segment has at least 60.`)
  }
  if (!startsWith(bytes, headerMagic)) {
    return damaged("header", "The file does not begin as a segment does.")
  }
  const cursor = new ByteCursor(bytes, 8, headerLength)
  const version = Math.floor(cursor.word32() / 0x1_0000)
  if (cursor.word32() !== crc32(bytes.subarray(0, 12))) {
    return damaged("header", "The checksum of the header is wrong.")
  }
  return version < 1 || version > formatVersion
    ? unsupportedVersion(version)
    : Result.succeed(version)
}

/** The trailer's 44 bytes. */
export const encodeTrailer = (trailer: Trailer, crc32: Crc32): Uint8Array => {
  const bytes = new GrowingBytes(trailerLength)
  const name = new Uint8Array(codecNameBytes)
  name.set(asciiBytes(trailer.codec))
  bytes.raw(name)
  bytes.word32(Math.floor(trailer.footerOffset / wordWeight))
  bytes.word32(trailer.footerOffset % wordWeight)
  bytes.word32(trailer.footerLength)
  bytes.word32(trailer.footerRawLength)
  bytes.word32(trailer.footerChecksum)
  bytes.word32(trailer.version * 0x1_0000 + (trailer.footerIsCompressed ? footerCompressed : 0))
  bytes.word32(crc32(bytes.view()))
  bytes.raw(trailerMagic)
  return bytes.view()
}

/** Reads the trailer from the last 44 bytes of a file of `fileLength` bytes. */
export const decodeTrailer = (
  bytes: Uint8Array,
  fileLength: number,
  crc32: Crc32
): Result.Result<Trailer, SegmentDamaged | SegmentUnsupported> => {
  if (bytes.length !== trailerLength || fileLength < headerLength + trailerLength) {
    return damaged("trailer", `A segment of ${fileLength} bytes has no room for a trailer.`)
  }
  if (!startsWith(bytes.subarray(trailerLength - trailerMagic.length), trailerMagic)) {
    return damaged("trailer", "The file does not end as a segment does: it is cut or overwritten.")
  }
  const cursor = new ByteCursor(bytes, codecNameBytes)
  const footerOffset = cursor.word32() * wordWeight + cursor.word32()
  const footerLength = cursor.word32()
  const footerRawLength = cursor.word32()
  const footerChecksum = cursor.word32()
  const versionAndFlags = cursor.word32()
  if (cursor.word32() !== crc32(bytes.subarray(0, trailerLength - 12))) {
    return damaged("trailer", "The checksum of the trailer is wrong.")
  }
  const version = Math.floor(versionAndFlags / 0x1_0000)
  if (version < 1 || version > formatVersion) return unsupportedVersion(version)
  const codec = asciiText(bytes.subarray(0, codecNameBytes)).replace(/\0+$/, "")
  if (footerOffset < headerLength || footerOffset + footerLength !== fileLength - trailerLength) {
    return damaged("trailer", "The footer does not lie between the blocks and the trailer.")
  }
  return Result.succeed({
    version,
    codec,
    footerOffset,
    footerLength,
    footerRawLength,
    footerChecksum,
    footerIsCompressed: versionAndFlags % 2 === footerCompressed
  })
}
