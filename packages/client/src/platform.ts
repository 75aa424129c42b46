/** Node's compression, checksum and digest, as the segment format and the catalogue want them. */
import type { CataloguePlatform, Compression } from "@holdfast/catalogue"
import {
  noCompression,
  type ReaderOptions,
  type SegmentCodec,
  type SegmentHash,
  type WriterPlatform
} from "@holdfast/segment"
import { createHash } from "node:crypto"
import { constants, crc32 as nodeCrc32, zstdCompressSync, zstdDecompressSync } from "node:zlib"

/** CRC-32 of bytes. */
export const crc32 = (bytes: Uint8Array): number => nodeCrc32(bytes)

const zstd = (level: number): SegmentCodec => ({
  name: "zstd",
  // The size that the frame then names lets the decompressor do without a window of its own.
  compress: (raw) =>
    zstdCompressSync(raw, {
      pledgedSrcSize: raw.length,
      params: { [constants.ZSTD_c_compressionLevel]: level }
    }),
  // One buffer for all of the output: pieces of the default size cost five times as much.
  decompress: (stored, rawLength) =>
    zstdDecompressSync(stored, {
      maxOutputLength: Math.max(1, rawLength),
      chunkSize: Math.max(64, rawLength + 1)
    })
})

const sha256Hash: SegmentHash = {
  name: "sha256",
  digest: (parts) => {
    const hash = createHash("sha256")
    for (const part of parts) hash.update(part)
    return new Uint8Array(hash.digest())
  }
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** What the catalogue needs. */
export const cataloguePlatform: CataloguePlatform = {
  sha256: (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest()),
  encodeText: (text) => encoder.encode(text),
  decodeText: (bytes) => decoder.decode(bytes)
}

/** How segment files of any codec are read. */
export const segmentReading: ReaderOptions = {
  platform: { crc32, codecs: [noCompression, zstd(3)], hashes: [sha256Hash] }
}

/** How segment files are written with the compression of an archive. */
export const segmentWriting = (compression: Compression): WriterPlatform => {
  switch (compression._tag) {
    case "None":
      return { crc32, codec: noCompression, hash: sha256Hash }
    case "Zstd":
      return { crc32, codec: zstd(compression.level), hash: sha256Hash }
  }
}
