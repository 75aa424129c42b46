/** Files of every format version that was ever written stay readable. */
import { Result } from "effect"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import {
  noCompression,
  SegmentBuilder,
  type SegmentCodec,
  type SegmentRecord,
  verifySegment
} from "./index.ts"

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

/** Every encoding at least once: wide and narrow, inline and shared, parts, headers. */
const records: ReadonlyArray<SegmentRecord> = [
  ...Array.from({ length: 40 }, (_, at) => ({
    position: BigInt(at * 2),
    part: at === 39 ? 3 : 0,
    timestamp: 1_700_000_000_000_000_000n + BigInt(at) * 250_000n,
    subject: text(`golden.${at % 3}`),
    headers:
      at % 5 === 0 ? [[text("h"), text(String(at))] as const, [text("h"), text("")] as const] : [],
    data: text(`{"at":${at},"text":"golden golden golden"}`)
  })),
  {
    position: 2n ** 130n,
    part: 0,
    timestamp: -1n,
    subject: new Uint8Array(1_100).fill(65),
    headers: [],
    data: text("")
  },
  { position: 2n ** 130n, part: 1, timestamp: 0n, subject: text(""), headers: [], data: text("b") }
]

const write = (codec: SegmentCodec): Uint8Array => {
  const builder = new SegmentBuilder({
    platform: { crc32, codec, hash },
    limits: { blockBytes: 1_200 },
    tagNames: ["subject"],
    attributes: [["archive", text("golden")]]
  })
  for (const record of records) {
    const value = record.subject.subarray(0, 300)
    Result.getOrThrow(builder.append(record, [{ name: "subject", value }]))
  }
  return Result.getOrThrow(builder.seal()).bytes
}

describe.each(["plain", "none", "zstd"])("format version 1 (%s)", (name) => {
  const golden = readFileSync(new URL(`./golden/version-1-${name}.seg`, import.meta.url))

  it("is read as it was written", () => {
    const { damaged, file, records: found } = Result.getOrThrow(verifySegment(golden, reading))
    expect(file.version).toBe(1)
    expect(damaged).toEqual([])
    expect(found).toEqual(records)
    expect(file.summary.tags).toEqual([{ name: "subject", overflowed: true, values: [] }])
    expect(file.summary.attributes).toEqual([["archive", text("golden")]])
  })
})

it("what is written is still format version 1, byte for byte", () => {
  const golden = readFileSync(new URL("./golden/version-1-none.seg", import.meta.url))
  expect(Buffer.compare(write(noCompression), golden)).toBe(0)
})
