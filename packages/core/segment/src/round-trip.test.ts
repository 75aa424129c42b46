import { Result } from "effect"
import fc from "fast-check"
import { createHash } from "node:crypto"
import { crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import {
  blockRanges,
  type BuilderOptions,
  decodeBlock,
  decodeSegment,
  invariants,
  isSelected,
  noCompression,
  openSegment,
  positionMax,
  type SealedSegment,
  SegmentBuilder,
  type SegmentCodec,
  type SegmentRecord,
  selectBlocks,
  timestampMax,
  timestampMin,
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
const writing = (codec: SegmentCodec) => ({ crc32, codec, hash })
const text = (value: string) => new TextEncoder().encode(value)

const seal = (
  records: ReadonlyArray<SegmentRecord>,
  options: Partial<BuilderOptions> = {}
): SealedSegment => {
  const builder = new SegmentBuilder({ platform: writing(zstd), ...options })
  for (const record of records) Result.getOrThrow(builder.append(record))
  return Result.getOrThrow(builder.seal())
}

const record = (position: bigint, fields: Partial<SegmentRecord> = {}): SegmentRecord => ({
  position,
  part: 0,
  timestamp: 1_700_000_000_000_000_000n + (position % 1_000_000n) * 1_000_000n,
  subject: text("orders.eu"),
  headers: [],
  data: text(`payload ${position}`),
  ...fields
})

const bytes = fc.uint8Array({ maxLength: 40 })
const name = fc.oneof(fc.constantFrom(text("a"), text("Nats-Msg-Id"), new Uint8Array(0)), bytes)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt(1n, 5n) },
  { weight: 1, arbitrary: fc.bigInt(1n, 2n ** 60n) },
  { weight: 1, arbitrary: fc.bigInt(2n ** 100n, 2n ** 200n) }
)
const timestamp = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt(1_700_000_000_000_000_000n, 1_700_000_100_000_000_000n) },
  { weight: 1, arbitrary: fc.bigInt(timestampMin, timestampMax) },
  { weight: 1, arbitrary: fc.constantFrom(0n, timestampMin, timestampMax) }
)
const drawn = fc.record({
  step,
  part: fc.option(fc.nat({ max: 1_000 }), { nil: 0, freq: 3 }),
  samePosition: fc.boolean(),
  timestamp,
  subject: name,
  headers: fc.array(fc.tuple(name, bytes), { maxLength: 4 }),
  data: fc.oneof(bytes, fc.uint8Array({ maxLength: 3_000 }))
})
const records = fc
  .tuple(
    fc.oneof(fc.constant(0n), fc.bigInt(0n, 2n ** 70n)),
    fc.array(drawn, { minLength: 1, maxLength: 60 })
  )
  .map(([start, entries]) => {
    const all: Array<SegmentRecord> = []
    let position = start
    let part = -1
    for (const { samePosition, step, ...fields } of entries) {
      if (samePosition && part >= 0) {
        part += 1 + fields.part
      } else {
        position += step
        part = fields.part
      }
      all.push({ ...fields, position, part })
    }
    return all
  })

describe("a segment", () => {
  it.each([zstd, noCompression])("gives back what was put in, byte for byte ($name)", (codec) => {
    fc.assert(
      fc.property(records, fc.integer({ min: 1, max: 4_000 }), (all, blockBytes) => {
        const limits = { blockBytes, dictionaryEntriesMax: blockBytes % 5 }
        const sealed = seal(all, { platform: writing(codec), limits })
        const { damaged, file, records } = Result.getOrThrow(verifySegment(sealed.bytes, reading))
        expect(damaged).toEqual([])
        expect(records).toEqual(all)
        expect(invariants(file, records)).toEqual([])
        expect(file.summary).toEqual(sealed.summary)
        expect(sealed.checksum).toBe(crc32(sealed.bytes))
      }),
      { numRuns: 150 }
    )
  })

  const edges: ReadonlyArray<readonly [string, ReadonlyArray<SegmentRecord>]> = [
    ["an empty payload, an empty subject", [record(1n, { data: text(""), subject: text("") })]],
    ["position 0", [record(0n), record(1n)]],
    ["the greatest position", [record(positionMax - 1n), record(positionMax)]],
    ["positions of 186 bits", [record(2n ** 186n), record(2n ** 186n + 1n), record(2n ** 187n)]],
    ["positions across 2^64", [record(1n), record(2n ** 64n - 1n), record(2n ** 64n)]],
    ["a position jump of 2^60", [record(1n), record(2n ** 60n), record(2n ** 60n + 7n)]],
    [
      "the whole range of time, backwards",
      [timestampMax, timestampMin, 0n, -1n].map((timestamp, at) =>
        record(BigInt(at), { timestamp })
      )
    ],
    [
      "repeated header names in their order, with empty ones",
      [
        record(1n, {
          headers: [
            [text("x"), text("1")],
            [text("y"), text("")],
            [text("x"), text("2")],
            [text(""), text("3")]
          ]
        }),
        record(2n)
      ]
    ],
    ["a binary subject", [record(1n, { subject: Uint8Array.of(0, 255, 254, 46, 10, 0) })]],
    [
      "a subject over the dictionary's entry limit",
      [record(1n, { subject: new Uint8Array(5_000) })]
    ],
    ["parts of one message", [0, 1, 5].map((part) => record(9n, { part }))]
  ]
  it.each(edges)("keeps %s", (_, all) => {
    for (const codec of [zstd, noCompression]) {
      const sealed = seal(all, { platform: writing(codec) })
      expect(Result.getOrThrow(verifySegment(sealed.bytes, reading)).records).toEqual(all)
    }
  })

  it("keeps one record of 3 MiB among small ones, in a block of its own", () => {
    const data = Uint8Array.from({ length: 3 << 20 }, (_, at) => (at * 7919) >> 3)
    const sealed = seal([record(1n), record(2n, { data }), record(3n)])
    const { file, records } = Result.getOrThrow(verifySegment(sealed.bytes, reading))
    expect(records.map(({ position }) => position)).toEqual([1n, 2n, 3n])
    expect(Buffer.compare(records[1]!.data, data)).toBe(0)
    expect(file.blocks.map(({ count }) => count)).toEqual([1, 1, 1])
  })

  it("gives the same array for the same subject and header name", () => {
    const headers = [[text("h"), text("1")]] as const
    const all = [record(1n, { headers }), record(2n, { headers: [[text("h"), text("2")]] })]
    const { records } = Result.getOrThrow(decodeSegment(seal(all).bytes, reading))
    expect(records[0]!.subject).toBe(records[1]!.subject)
    expect(records[0]!.headers[0]![0]).toBe(records[1]!.headers[0]![0])
  })

  it("takes a record that says no part as part 0, in order among parts", () => {
    const { part: _part, ...whole } = record(2n)
    const builder = new SegmentBuilder({ platform: writing(zstd) })
    for (const one of [record(1n, { part: 3 }), whole]) Result.getOrThrow(builder.append(one))
    expect(Result.isFailure(builder.append(whole))).toBe(true)
    const { bytes } = Result.getOrThrow(builder.seal())
    const { records } = Result.getOrThrow(decodeSegment(bytes, reading))
    expect(records).toEqual([record(1n, { part: 3 }), record(2n)])
  })

  it("keeps nothing of the caller's arrays", () => {
    const subject: Uint8Array = Buffer.from("first")
    const data: Uint8Array = Buffer.from("one")
    const builder = new SegmentBuilder({ platform: writing(noCompression) })
    Result.getOrThrow(builder.append(record(1n, { subject, data })))
    subject.set(text("later"))
    data.set(text("two"))
    Result.getOrThrow(builder.append(record(2n, { subject, data })))
    const { bytes } = Result.getOrThrow(builder.seal())
    const { records } = Result.getOrThrow(decodeSegment(bytes, reading))
    expect(records.map((one) => new TextDecoder().decode(one.subject))).toEqual(["first", "later"])
    expect(records.map((one) => new TextDecoder().decode(one.data))).toEqual(["one", "two"])
  })
})

describe("reading a range", () => {
  const all = Array.from({ length: 2_000 }, (_, at) => record(BigInt(at * 3)))
  const sealed = seal(all, { limits: { blockBytes: 2_048 } })
  const opened = Result.getOrThrow(openSegment(sealed.bytes, sealed.bytes.length, reading))
  if (opened._tag !== "Opened") throw new Error("the whole file is at hand")
  const { file } = opened

  it("opens from the end alone, asking for the footer when the tail is too short", () => {
    const { bytes } = sealed
    const first = Result.getOrThrow(openSegment(bytes.subarray(-10), bytes.length, reading))
    expect(first).toEqual({
      _tag: "NeedsMore",
      range: { start: bytes.length - 44, end: bytes.length }
    })
    const second = Result.getOrThrow(openSegment(bytes.subarray(-44), bytes.length, reading))
    if (second._tag !== "NeedsMore") throw new Error("a trailer is not enough")
    const tail = bytes.subarray(second.range.start, second.range.end)
    const third = Result.getOrThrow(openSegment(tail, bytes.length, reading))
    expect(third._tag).toBe("Opened")
  })

  it("costs the blocks it touches and yields what a filter of everything would", () => {
    const bound = fc.option(fc.bigInt(-5n, 6_010n), { nil: undefined })
    const base = all[0]!.timestamp
    const time = fc.option(
      fc.bigInt(-5n, 6_010n).map((at) => base + at * 1_000_000n),
      { nil: undefined }
    )
    const selections = fc.record({ from: bound, to: bound, timeFrom: time, timeTo: time })
    fc.assert(
      fc.property(selections, (selection) => {
        const blocks = selectBlocks(file, selection)
        const found = blockRanges(blocks, 10_000).flatMap(({ blocks, range }) => {
          const fetched = sealed.bytes.slice(range.start, range.end)
          expect(fetched.length).toBeLessThanOrEqual(10_000)
          return blocks.flatMap((block) => {
            const start = block.offset - range.start
            const stored = fetched.subarray(start, start + block.length)
            return Result.getOrThrow(decodeBlock(file, block, stored, reading))
          })
        })
        const expected = all.filter((one) => isSelected(one, selection))
        expect(found.filter((one) => isSelected(one, selection))).toEqual(expected)
        expect(blocks.length).toBeLessThanOrEqual(expected.length / 10 + 2)
      }),
      { numRuns: 60 }
    )
  })
})

describe("the summary of tags", () => {
  it("lists values in byte order, marks a tag that has too many, names one that has none", () => {
    const builder = new SegmentBuilder({
      platform: writing(zstd),
      tagNames: ["kind", "user", "unused", "long"],
      limits: { tagValuesMax: 2 },
      attributes: [["archive", text("orders")]]
    })
    for (const [at, kind] of ["b", "a", "b"].entries()) {
      const tags = [
        { name: "kind", value: text(kind) },
        { name: "user", value: text(`user-${at}`) },
        { name: "long", value: new Uint8Array(256) }
      ]
      Result.getOrThrow(builder.append(record(BigInt(at)), tags))
    }
    const { bytes } = Result.getOrThrow(builder.seal())
    const { summary } = Result.getOrThrow(decodeSegment(bytes, reading)).file
    expect(summary.tags).toEqual([
      { name: "kind", overflowed: false, values: [text("a"), text("b")] },
      { name: "long", overflowed: true, values: [] },
      { name: "unused", overflowed: false, values: [] },
      { name: "user", overflowed: true, values: [] }
    ])
    expect(summary.attributes).toEqual([["archive", text("orders")]])
  })
})

describe("what a builder refuses", () => {
  const refusals: ReadonlyArray<readonly [string, Partial<SegmentRecord>]> = [
    ["OutOfOrder", { position: 5n, part: 0 }],
    ["OutOfOrder", { position: 4n, part: 9 }],
    ["PositionOutOfRange", { position: positionMax + 1n }],
    ["PartOutOfRange", { part: 1.5 }],
    ["PartOutOfRange", { part: -1 }],
    ["TimestampOutOfRange", { timestamp: timestampMax + 1n }],
    ["RecordTooLarge", { data: new Uint8Array(101) }],
    ["TooManyHeaders", { headers: Array.from({ length: 70_000 }, () => [text(""), text("")]) }]
  ]
  it.each(refusals)("%s: %o", (reason, fields) => {
    const limits = { recordBytesMax: 100 }
    const builder = new SegmentBuilder({ platform: writing(zstd), limits })
    Result.getOrThrow(builder.append(record(5n)))
    const refused = builder.append(record(6n, fields))
    expect(Result.isFailure(refused) && refused.failure.reason).toBe(reason)
    const { summary } = Result.getOrThrow(builder.seal())
    expect([summary.count, summary.last]).toEqual([1, 5n])
  })

  it("an empty segment", () => {
    const sealed = new SegmentBuilder({ platform: writing(zstd) }).seal()
    expect(Result.isFailure(sealed) && sealed.failure._tag).toBe("SegmentEmpty")
  })
})
