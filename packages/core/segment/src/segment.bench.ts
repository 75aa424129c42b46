/**
 * Encode and decode of small records, and the stored size against gzip -6.
 *
 * Run: node --conditions=@holdfast/source packages/core/segment/src/segment.bench.ts
 */
import { figuresOf } from "@holdfast/suites/figures"
import { Result } from "effect"
import { createHash } from "node:crypto"
import { crc32, gzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { decodeSegment, noCompression, SegmentBuilder, type SegmentRecord } from "./index.ts"

const zstd = {
  name: "zstd",
  compress: (raw: Uint8Array) => zstdCompressSync(raw, { pledgedSrcSize: raw.length }),
  decompress: (stored: Uint8Array, rawLength: number) =>
    zstdDecompressSync(stored, { maxOutputLength: rawLength, chunkSize: rawLength + 64 })
}
const hash = {
  name: "sha256",
  digest: (parts: ReadonlyArray<Uint8Array>) => {
    const sum = createHash("sha256")
    for (const part of parts) sum.update(part)
    return new Uint8Array(sum.digest())
  }
}
const platform = { crc32, codecs: [noCompression, zstd], hashes: [hash] }
const count = 200_000
const say = figuresOf("segment")

const payload = (at: number, bytes: number): Uint8Array => {
  const airports = ["ABQ", "JFK", "SFO", "ORD", "PHX", "LAX"]
  const text = JSON.stringify({
    date: `2001/01/${(at % 28) + 1} ${at % 24}:${at % 60}`,
    delay: (at * 7919) % 181,
    distance: (at * 104729) % 2500,
    origin: airports[at % 6]
  })
  return new TextEncoder().encode(text.padEnd(bytes, "."))
}

const recordsOf = (bytes: number): ReadonlyArray<SegmentRecord> =>
  Array.from({ length: count }, (_, at) => ({
    position: BigInt(at + 1),
    part: 0,
    timestamp: 1_700_000_000_000_000_000n + BigInt(at) * 12_345n,
    subject: new TextEncoder().encode(`flights.${at % 50}`),
    headers: [],
    data: payload(at, bytes)
  }))

const best = (run: () => void): number => {
  let seconds = Infinity
  for (let turn = 0; turn < 4; turn++) {
    const start = performance.now()
    run()
    seconds = Math.min(seconds, (performance.now() - start) / 1000)
  }
  return seconds
}

for (const bytes of [100, 256]) {
  const records = recordsOf(bytes)
  const copying = best(() => {
    for (const record of records) record.data.slice()
  })
  for (const codec of [noCompression, zstd]) {
    const write = (): ReadonlyArray<Uint8Array> => {
      const files: Array<Uint8Array> = []
      let builder = new SegmentBuilder({ platform: { crc32, codec, hash } })
      for (const record of records) {
        Result.getOrThrow(builder.append(record))
        if (builder.rawBytes < 8 << 20) continue
        files.push(Result.getOrThrow(builder.seal()).bytes)
        builder = new SegmentBuilder({ platform: { crc32, codec, hash } })
      }
      if (builder.count > 0) files.push(Result.getOrThrow(builder.seal()).bytes)
      return files
    }
    const files = write()
    const encoding = best(write)
    const label = `${bytes} B, ${codec.name}`
    const sayRate = (what: string, seconds: number): void => {
      say({ what, value: count / seconds, unit: "records a second", bar: { atLeast: 1_000_000 } })
      say({
        what: `  ${what}, against a copy of the payloads`,
        value: seconds / copying,
        unit: "times"
      })
    }
    sayRate(`encode ${label}`, encoding)
    const decoding = best(() => {
      for (const file of files) {
        const { records: found } = Result.getOrThrow(decodeSegment(file, { platform }))
        if (found.length === 0) throw new Error("nothing was decoded")
      }
    })
    sayRate(`decode ${label}`, decoding)
    const stored = files.reduce((sum, file) => sum + file.length, 0)
    const lines = Buffer.concat(records.flatMap(({ data }) => [data, Buffer.from("\n")]))
    const zipped = gzipSync(lines, { level: 6 }).length
    say({ what: `stored ${label}`, value: stored, unit: "bytes" })
    say({
      what: `  stored ${label}, against gzip -6`,
      value: stored / zipped,
      unit: "times",
      ...(codec === zstd ? { bar: { atMost: 1 } } : {})
    })
  }
}
