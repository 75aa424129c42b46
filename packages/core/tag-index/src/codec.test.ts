import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  compareRecords,
  decodeRecordKey,
  decodeRecords,
  encodeRecordKey,
  encodeRecords,
  parseTag,
  PartitionKey,
  showTag,
  TAG_BYTES_MAX
} from "./index.ts"

const anyTag = fc.oneof(
  fc.uint8Array({ maxLength: 12 }),
  fc.array(fc.constantFrom(0, 1, 0xff), { maxLength: 5 }).map((all) => Uint8Array.from(all)),
  fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text).slice(0, 512))
)
const anyKey = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((key) => PartitionKey.make(Buffer.from(key).toString("hex")))
const anyRecord = fc.record({ tag: anyTag, key: anyKey })

describe("the list of records", () => {
  it("goes to bytes and back", () => {
    fc.assert(
      fc.property(fc.array(anyRecord), (records) => {
        expect(Result.getOrThrow(decodeRecords(encodeRecords(records)))).toEqual(records)
      })
    )
  })

  it("stays readable as version 1 wrote it", () => {
    const golden = `010000000200026162${"00".repeat(31)}070000${"ff".repeat(32)}`
    const records = Result.getOrThrow(decodeRecords(Buffer.from(golden, "hex")))
    expect(records).toEqual([
      { tag: Uint8Array.of(0x61, 0x62), key: "7".padStart(64, "0") },
      { tag: new Uint8Array(), key: "f".repeat(64) }
    ])
    expect(Buffer.from(encodeRecords(records)).toString("hex")).toBe(golden)
  })

  it("refuses a list cut anywhere, or with more behind it, or of another version", () => {
    const list = encodeRecords([
      { tag: Uint8Array.of(1, 2, 3), key: PartitionKey.make("a".repeat(64)) },
      { tag: Uint8Array.of(4), key: PartitionKey.make("b".repeat(64)) }
    ])
    for (let length = 0; length < list.length; length++) {
      expect(Result.isFailure(decodeRecords(list.slice(0, length))), `${length}`).toBe(true)
    }
    expect(Result.isFailure(decodeRecords(Uint8Array.of(...list, 0)))).toBe(true)
    expect(Result.isFailure(decodeRecords(Uint8Array.of(2, ...list.slice(1))))).toBe(true)
  })

  it("never throws on other bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (noise) => {
        Result.isFailure(decodeRecords(noise))
        Result.isFailure(decodeRecordKey(noise))
      })
    )
  })
})

describe("the record as a key of a store", () => {
  it("goes to bytes and back", () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        expect(Result.getOrThrow(decodeRecordKey(encodeRecordKey(record)))).toEqual(record)
      })
    )
  })

  it("orders as the records do", () => {
    fc.assert(
      fc.property(anyRecord, anyRecord, (a, b) => {
        const stored = Buffer.compare(encodeRecordKey(a), encodeRecordKey(b))
        expect(Math.sign(stored)).toBe(Math.sign(compareRecords(a, b)))
      })
    )
  })

  it("is at most 1,058 bytes long", () => {
    const longest = { tag: new Uint8Array(TAG_BYTES_MAX), key: PartitionKey.make("0".repeat(64)) }
    expect(encodeRecordKey(longest).length).toBe(1058)
  })
})

describe("showTag", () => {
  const shown: ReadonlyArray<readonly [bytes: ReadonlyArray<number>, text: string]> = [
    [[0x61, 0x62], "ab"],
    [[0xc3, 0xa9], "é"],
    [[0xf0, 0x9f, 0x98, 0x80], "😀"],
    [[0x5c], "\\\\"],
    [[0x00, 0x0a], "\\x00\\x0a"],
    [[0xff, 0xfe, 0x61], "\\xff\\xfea"],
    [[0xc0, 0x80], "\\xc0\\x80"],
    [[0xed, 0xa0, 0x80], "\\xed\\xa0\\x80"],
    [[0xe2, 0x82], "\\xe2\\x82"],
    [[0xe2, 0x80, 0xae], "\\xe2\\x80\\xae"],
    [[0xf4, 0x90, 0x80, 0x80], "\\xf4\\x90\\x80\\x80"]
  ]
  for (const [bytes, text] of shown) {
    it(`peer-T34: shows ${Buffer.from(bytes).toString("hex")} as ${text}`, () => {
      expect(showTag(Uint8Array.from(bytes))).toBe(text)
    })
  }

  it("peer-T34: never throws, and reads back what it shows", () => {
    fc.assert(
      fc.property(anyTag, (tag) => {
        expect(Result.getOrThrow(parseTag(showTag(tag)))).toEqual(tag)
      })
    )
  })

  it("agrees with the platform on what UTF-8 is", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), (tag) => {
        const text = Buffer.from(tag).toString("utf8")
        const isValid = Buffer.from(text, "utf8").equals(tag)
        const isPlain = isValid && !/[\p{C}\p{Zl}\p{Zp}\\]/u.test(text)
        expect(showTag(tag) === text).toBe(isPlain)
      }),
      { numRuns: 500 }
    )
  })

  it("refuses a lone backslash and a tag that is too long", () => {
    expect(Result.getOrThrow(Result.flip(parseTag("a\\b"))).message).toContain("character 1")
    expect(Result.getOrThrow(Result.flip(parseTag("x".repeat(513)))).code).toBe("too-long")
    expect(Result.getOrThrow(parseTag("\\xFFé"))).toEqual(Uint8Array.of(0xff, 0xc3, 0xa9))
  })
})
