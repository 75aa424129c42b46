import { Result } from "effect"
import { createHash } from "node:crypto"
import { crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import {
  blockRecordsMax,
  decodeBlock,
  decodeSegment,
  noCompression,
  openSegment,
  SegmentBuilder,
  type SegmentCodec,
  type SegmentRecord,
  verifySegment
} from "./index.ts"
import { decodeColumns } from "./block-decode.ts"
import { GrowingBytes } from "./growing-bytes.ts"

const zstd: SegmentCodec = {
  name: "zstd",
  compress: (raw) => zstdCompressSync(raw),
  decompress: (stored, rawLength) => zstdDecompressSync(stored, { maxOutputLength: rawLength })
}
const hash = {
  name: "sha256",
  digest: (parts: ReadonlyArray<Uint8Array>) => {
    const sum = createHash("sha256")
    for (const part of parts) sum.update(part)
    return new Uint8Array(sum.digest())
  }
}
const reading = { platform: { crc32, codecs: [noCompression, zstd], hashes: [hash] } }
const text = (value: string) => new TextEncoder().encode(value)

const records: ReadonlyArray<SegmentRecord> = Array.from({ length: 12 }, (_, at) => ({
  position: BigInt(10 + at),
  part: at % 3 === 2 ? 1 : 0,
  timestamp: BigInt(at) * 1_000n,
  subject: text(`s.${at % 2}`),
  headers: at % 4 === 0 ? [[text("h"), text(String(at))] as const] : [],
  data: text("x".repeat(20 + at))
}))

const sealWith = (codec: SegmentCodec) => {
  const platform = { crc32, codec, hash }
  const builder = new SegmentBuilder({ platform, limits: { blockBytes: 160 }, tagNames: ["t"] })
  for (const record of records) {
    Result.getOrThrow(builder.append(record, [{ name: "t", value: record.subject }]))
  }
  return Result.getOrThrow(builder.seal()).bytes
}

/** What may come out of damaged bytes: a typed error, or exactly the undamaged blocks' records. */
const judge = (bytes: Uint8Array): "refused" | "partial" | "whole" => {
  const decoded = decodeSegment(bytes, reading)
  if (Result.isFailure(decoded)) {
    expect(decoded.failure.message).toMatch(/\.$/)
    return "refused"
  }
  const { damaged, records: found } = decoded.success
  const lost = (record: SegmentRecord) =>
    damaged.some(({ first, last }) => record.position >= first && record.position <= last)
  expect(found).toEqual(records.filter((record) => !lost(record)))
  expect(found.length + damaged.reduce((sum, { count }) => sum + count, 0)).toBe(records.length)
  return damaged.length > 0 ? "partial" : "whole"
}

describe.each([zstd, noCompression])("a damaged file ($name)", (codec) => {
  const good = sealWith(codec)

  it("has every single flipped bit detected", () => {
    const verdicts = { refused: 0, partial: 0, whole: 0 }
    for (let bit = 0; bit < good.length * 8; bit++) {
      const bytes = good.slice()
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      verdicts[judge(bytes)]++
    }
    expect(verdicts.whole).toBe(0)
    expect(verdicts.partial).toBeGreaterThan(0)
    expect(verdicts.refused).toBeGreaterThan(0)
  })

  it("is refused when cut at any byte, and when bytes follow it", () => {
    for (let length = 0; length < good.length; length++) {
      expect(judge(good.subarray(0, length))).toBe("refused")
      const opened = openSegment(good.subarray(0, length), length, reading)
      expect(Result.isFailure(opened)).toBe(true)
    }
    expect(judge(Uint8Array.of(...good, 0))).toBe("refused")
  })

  it("costs a damaged block its own records and names them", () => {
    const bytes = good.slice()
    const { file } = Result.getOrThrow(decodeSegment(good, reading))
    expect(file.blocks.length).toBeGreaterThan(2)
    const block = file.blocks[1]!
    bytes.fill(0, block.offset, block.offset + block.length)
    const { damaged } = Result.getOrThrow(decodeSegment(bytes, reading))
    const { count, first, last } = block
    expect(damaged).toMatchObject([{ block: 1, reason: "checksum", first, last, count }])
    expect(damaged[0]!.message).toContain(`${first} to ${last}`)
  })

  it("says which stored bytes are too few", () => {
    const { file } = Result.getOrThrow(decodeSegment(good, reading))
    const block = file.blocks[0]!
    const decoded = decodeBlock(file, block, good.subarray(block.offset, block.offset + 3), reading)
    expect(Result.isFailure(decoded) && decoded.failure.reason).toBe("length")
  })
})

describe("a file that was forged with right checksums", () => {
  const good = sealWith(noCompression)
  const { file } = Result.getOrThrow(decodeSegment(good, reading))
  const block = file.blocks[0]!
  const raw = good.slice(block.offset, block.offset + block.length)
  const options = { dictionary: file.dictionary, payloadBytesMax: 1 << 20 }

  it("never throws on a changed byte of a block, nor yields what the index does not name", () => {
    for (let at = 0; at < raw.length; at++) {
      for (const value of [0, 1, 127, 128, 255]) {
        const forged = raw.slice()
        forged[at] = value
        const decoded = decodeColumns(forged, block, options)
        if (typeof decoded === "string") continue
        expect(decoded.length).toBe(block.count)
        expect(decoded[0]!.position).toBe(block.first)
      }
    }
  })

  it("cannot make a few bytes stand for many records", () => {
    const forged = new GrowingBytes(64)
    forged.byte(0)
    forged.varint(blockRecordsMax + 1)
    for (let column = 0; column < 8; column++) forged.varint(0)
    const facts = { ...block, count: blockRecordsMax + 1 }
    expect(decodeColumns(forged.view(), facts, options)).toContain(`${blockRecordsMax + 1} records`)
  })

  it("cannot make a block unpack to more than the reader takes", () => {
    const builder = new SegmentBuilder({ platform: { crc32, codec: zstd, hash } })
    const bomb = { ...records[0]!, data: new Uint8Array(4 << 20) }
    Result.getOrThrow(builder.append(bomb))
    const { bytes } = Result.getOrThrow(builder.seal())
    expect(bytes.length).toBeLessThan(2_000)
    const opened = decodeSegment(bytes, { ...reading, limits: { blockRawBytesMax: 1 << 20 } })
    expect(Result.isFailure(opened) && opened.failure).toMatchObject({
      _tag: "SegmentTooLarge",
      what: "block",
      limit: 1 << 20
    })
  })

  it("is found by its digest when its checksums are right", () => {
    const wrongHash = { name: "sha256", digest: () => new Uint8Array(32) }
    const options = { platform: { ...reading.platform, hashes: [wrongHash] } }
    expect(Result.isSuccess(verifySegment(good, reading))).toBe(true)
    const verified = verifySegment(good, options)
    expect(Result.isFailure(verified) && verified.failure).toMatchObject({
      _tag: "SegmentDamaged",
      part: "digest"
    })
  })
})

describe("a reader that was not given what a file names", () => {
  it("says which codec is missing", () => {
    const platform = { ...reading.platform, codecs: [noCompression] }
    const decoded = decodeSegment(sealWith(zstd), { platform })
    expect(Result.isFailure(decoded) && decoded.failure).toMatchObject({
      _tag: "SegmentUnsupported",
      what: "codec",
      name: "zstd"
    })
  })

  it("says which digest is missing, when it verifies", () => {
    const platform = { ...reading.platform, hashes: [] }
    expect(Result.isSuccess(decodeSegment(sealWith(zstd), { platform }))).toBe(true)
    const verified = verifySegment(sealWith(zstd), { platform })
    expect(Result.isFailure(verified) && verified.failure).toMatchObject({
      _tag: "SegmentUnsupported",
      what: "hash",
      name: "sha256"
    })
  })

  it("says which version is too new", () => {
    const bytes = sealWith(noCompression)
    bytes[9] = 2
    const view = new DataView(bytes.buffer, bytes.byteOffset)
    view.setUint32(12, crc32(bytes.subarray(0, 12)))
    const decoded = decodeSegment(bytes, reading)
    expect(Result.isFailure(decoded) && decoded.failure).toMatchObject({
      _tag: "SegmentUnsupported",
      what: "version",
      name: "2"
    })
  })
})
