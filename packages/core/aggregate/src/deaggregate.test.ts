import { Result } from "effect"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import {
  type Deaggregated,
  deaggregator,
  type DeaggregatorOptions,
  describePlain,
  hashRange,
  type PlainReason
} from "./index.ts"
import { bytes, integer, join, record, sample, sealing, text, varint } from "./testing/wire.ts"

const md5 = (input: Uint8Array): Uint8Array => createHash("md5").update(input).digest()
const seal = sealing(md5)

const open = (input: Uint8Array, options: Partial<DeaggregatorOptions> = {}): Deaggregated =>
  deaggregator({ md5, ...options })(input)

/** `key/hashKey=data` of each user record, or what else came of it. */
const trace = (outcome: Deaggregated): string => {
  switch (outcome._tag) {
    case "Aggregate":
      return outcome.records
        .map(({ data, explicitHashKey, partitionKey }) => {
          const shown = new TextDecoder().decode(data)
          return `${partitionKey}/${explicitHashKey ?? "-"}=${shown}`
        })
        .join(" ")
    case "Plain":
      return outcome.why
    case "Dropped":
      return `Dropped ${outcome.records} for ${outcome.index}`
  }
}

describe("an aggregate", () => {
  it("is opened into its user records, in order, with tags", () => {
    const outcome = open(seal(sample))
    expect(trace(outcome)).toBe(
      "orders/170141183460469231731687303715884105728=first clicks/-= orders/-=third"
    )
    if (outcome._tag !== "Aggregate") return expect.unreachable()
    expect(outcome.format).toBe("standard")
    expect(outcome.records.map(({ tags }) => tags)).toEqual([
      [],
      [],
      [
        { key: "colour", value: "red" },
        { key: "bare", value: undefined }
      ]
    ])
  })

  it("is opened without a copy, also out of the middle of a larger Buffer", () => {
    const input = Buffer.concat([Buffer.from("before"), seal(sample), Buffer.from("after")])
    const outcome = open(input.subarray(6, input.length - 5))
    if (outcome._tag !== "Aggregate") return expect.unreachable()
    input[input.indexOf("third")] = 0x54
    expect(outcome.records[2]?.data).toEqual(text("Third"))
    expect(outcome.records.every(({ data }) => data.buffer === input.buffer)).toBe(true)
  })

  it("worker-F4: a user record without an explicit hash key does not get that of another", () => {
    const message = join(
      bytes(1, "k"),
      bytes(2, "7"),
      record({ key: 0, hashKey: 0, data: "a" }),
      record({ key: 0, data: "b" })
    )
    expect(trace(open(seal(message)))).toBe("k/7=a k/-=b")
  })

  it("worker-F9: without user records it is an aggregate of 0 parts, not a plain record", () => {
    expect(open(seal(bytes(1, "unused")))).toEqual({
      _tag: "Aggregate",
      format: "standard",
      records: []
    })
  })

  it("worker-F10: user records may be empty", () => {
    expect(trace(open(seal(join(bytes(1, "k"), record({ key: 0, data: "" })))))).toBe("k/-=")
  })

  it("worker-F14: inside another one it stays closed", () => {
    const inner = seal(sample)
    const outcome = open(seal(join(bytes(1, "k"), record({ key: 0, data: inner }))))
    if (outcome._tag !== "Aggregate") return expect.unreachable()
    expect(outcome.records.map(({ data }) => data)).toEqual([inner])
  })

  it.each([
    {
      name: "with the same key twice in a table",
      message: join(bytes(1, "k"), bytes(1, "k"), record({ key: 1, data: "a" })),
      opens: "k/-=a"
    },
    {
      name: "with the records before the tables",
      message: join(record({ key: 1, data: "a" }), bytes(1, "k"), bytes(1, "l")),
      opens: "l/-=a"
    },
    {
      name: "with fields that are not known, of every wire type",
      message: join(
        integer(9, 2n ** 64n - 1n),
        join(varint(10 * 8 + 1), new Uint8Array(8)),
        bytes(11, "unknown"),
        join(varint(12 * 8 + 3), integer(1, 5), varint(13 * 8 + 3)),
        join(varint(13 * 8 + 4), varint(12 * 8 + 4)),
        join(varint(14 * 8 + 5), new Uint8Array(4)),
        bytes(1, "k"),
        bytes(3, join(bytes(7, "unknown"), integer(1, 0), integer(8, 3), bytes(3, "a")))
      ),
      opens: "k/-=a"
    },
    {
      name: "with a known field of another wire type, which is a field that is not known",
      message: join(integer(3, 1), bytes(1, "k"), record({ key: 0, data: "a" })),
      opens: "k/-=a"
    },
    {
      name: "with a field twice, of which the last counts",
      message: join(
        bytes(1, "k"),
        bytes(3, join(bytes(3, "a"), integer(1, 9), integer(1, 0), bytes(3, "b")))
      ),
      opens: "k/-=b"
    },
    {
      name: "with keys that are no UTF-8 and that begin with a byte order mark",
      message: join(bytes(1, Uint8Array.of(0xef, 0xbb, 0xbf, 0xc3)), record({ key: 0, data: "a" })),
      opens: "\ufeff\ufffd/-=a"
    }
  ])("is opened $name", ({ message, opens }) => {
    expect(trace(open(seal(message)))).toBe(opens)
  })
})

describe("a record is plain", () => {
  const key = bytes(1, "k")
  const groups = (depth: number) =>
    join(...Array.from({ length: depth }, () => 0x4b), ...Array.from({ length: depth }, () => 0x4c))
  const cases: ReadonlyArray<readonly [PlainReason, string, Uint8Array]> = [
    ["NoMagic", "that is empty", text("")],
    ["NoMagic", "that is shorter than the magic number", Uint8Array.of(0xf3, 0x89, 0x9a)],
    ["NoMagic", "that is ordinary", text("an ordinary record, long enough for a digest")],
    ["NoMagic", "of a private format when that is off", seal(sample, 0x00)],
    ["NoMagic", "of the deflated format when that is off", seal(sample, 0x01)],
    ["TooShort", "that is the magic number alone", Uint8Array.of(0xf3, 0x89, 0x9a, 0xc2)],
    ["TooShort", "that is an empty message and its digest, by the KCL's rule", seal(text(""))],
    [
      "DigestMismatch",
      "worker-F7: that is the magic number and ordinary text",
      join(0xf3, 0x89, 0x9a, 0xc2, text("and then just a sentence"))
    ],
    ["DigestMismatch", "with something behind the digest", join(seal(sample), 0)],
    ["Truncated", "with a length beyond the end", seal(join(key, 0x1a, varint(5), text("abcd")))],
    ["Truncated", "with a length of 2^63", seal(join(key, 0x1a, varint(2n ** 63n)))],
    ["Truncated", "with a table entry beyond the end", seal(join(0x0a, varint(2 ** 31)))],
    ["Truncated", "with half a varint", seal(join(key, 0x80))],
    ["Truncated", "with half a fixed field", seal(join(key, 0x49, 1, 2, 3))],
    ["Truncated", "with a group that does not end", seal(join(key, 0x4b))],
    [
      "Truncated",
      "with data beyond its record",
      seal(join(key, bytes(3, join(integer(1, 0), 0x1a, 9, text("a"))), bytes(9, "behind")))
    ],
    [
      "Truncated",
      "with a tag beyond its record",
      seal(join(key, bytes(3, join(integer(1, 0), bytes(3, "a"), 0x22, 90))))
    ],
    [
      "VarintTooLong",
      "with a varint of 11 bytes",
      seal(join(key, 0x48, new Uint8Array(10).fill(0x80), 1))
    ],
    ["FieldNumber", "with a field number of 0", seal(join(key, 0x02, 0))],
    ["FieldNumber", "with a field number beyond 2^29", seal(join(key, varint(2n ** 32n), 0))],
    ["WireType", "with wire type 6", seal(join(key, 0x4e, 0))],
    [
      "WireType",
      "with wire type 7 in a record",
      seal(join(key, bytes(3, join(integer(1, 0), 0x4f))))
    ],
    ["GroupEnd", "with the end of a group only", seal(join(key, 0x4c))],
    ["GroupEnd", "with the end of another group", seal(join(key, 0x4b, 0x54))],
    ["GroupDepth", "with groups nested without end", seal(join(key, groups(5_000)))],
    ["MissingField", "without a partition key index", seal(join(key, record({ data: "a" })))],
    ["MissingField", "without data", seal(join(key, record({ key: 0 })))],
    [
      "MissingField",
      "with a tag without a key",
      seal(join(key, bytes(3, join(integer(1, 0), bytes(3, "a"), bytes(4, bytes(2, "v"))))))
    ],
    [
      "PartitionKeyIndex",
      "with an index past the table",
      seal(join(key, record({ key: 1, data: "" })))
    ],
    ["PartitionKeyIndex", "without a table", seal(record({ key: 0, data: "" }))],
    [
      "PartitionKeyIndex",
      "with an index of 2^64-1",
      seal(join(key, record({ key: 2n ** 64n - 1n, data: "" })))
    ],
    [
      "ExplicitHashKeyIndex",
      "with a hash key index past the table",
      seal(join(key, record({ key: 0, hashKey: 0, data: "" })))
    ]
  ]

  it.each(cases)("%s: %s", (why, _, input) => {
    const outcome = open(input)
    expect(outcome).toMatchObject({ _tag: "Plain", why })
    if (outcome._tag !== "Plain") return expect.unreachable()
    expect(outcome.at).toBeLessThanOrEqual(input.length)
    expect(describePlain(outcome)).toMatch(/^[A-Z].*\. \(at \d+\)$/)
  })

  it("whole, when its last user record is at fault", () => {
    const message = join(key, record({ key: 0, data: "fine" }), record({ key: 5, data: "not" }))
    expect(trace(open(seal(message)))).toBe("PartitionKeyIndex")
  })

  it.each([
    { limits: { records: 3 }, opens: true },
    { limits: { records: 2 }, opens: false, why: "TooManyRecords" },
    { limits: { tags: 2 }, opens: true },
    { limits: { tags: 1 }, opens: false, why: "TooManyTags" }
  ])("or opened, as the limits $limits say", ({ limits, opens, why }) => {
    const outcome = open(seal(sample), { limits })
    expect(outcome).toMatchObject(opens ? { _tag: "Aggregate" } : { _tag: "Plain", why })
  })

  it("when the tags of all its user records together are over the limit", () => {
    const tagged = record({ key: 0, data: "a", tags: [{ key: "t" }] })
    const input = seal(join(key, tagged, tagged, tagged))
    expect(open(input, { limits: { tags: 3 } })._tag).toBe("Aggregate")
    expect(open(input, { limits: { tags: 2 } })).toMatchObject({ why: "TooManyTags" })
  })
})

describe("a platform function that is broken", () => {
  it("is a defect when its digest has another length", () => {
    const short = (input: Uint8Array) => createHash("md5").update(input).digest().subarray(1)
    expect(() => deaggregator({ md5: short })(seal(sample))).toThrow("16 bytes, not 15")
  })
})

describe("user records outside of the shard's hash range", () => {
  const half = 2n ** 127n
  const message = join(
    bytes(1, "k"),
    bytes(2, "5"),
    bytes(2, String(half - 1n)),
    bytes(2, String(half)),
    record({ key: 0, hashKey: 0, data: "in" }),
    record({ key: 0, hashKey: 1, data: "in" }),
    record({ key: 0, hashKey: 2, data: "out" })
  )
  const lower = Result.getOrThrow(hashRange({ first: 0n, last: half - 1n }))
  const upper = Result.getOrThrow(hashRange({ first: half, last: 2n ** 128n - 1n }))

  it("worker-F1: are kept unless asked otherwise", () => {
    expect(trace(open(seal(message)))).toBe(`k/5=in k/${half - 1n}=in k/${half}=out`)
  })

  it("worker-F1: drop the whole aggregate by the KCL's rule, and are counted", () => {
    expect(trace(open(seal(message), { dropOutside: lower }))).toBe("Dropped 3 for 2")
    expect(trace(open(seal(message), { dropOutside: upper }))).toBe("Dropped 3 for 0")
  })

  it("are known by the MD5 of the partition key where no hash key is given", () => {
    // MD5("a") = 0cc1..., MD5("b") = 92eb...
    const one = seal(join(bytes(1, "a"), record({ key: 0, data: "x" })))
    const two = seal(
      join(
        bytes(1, "a"),
        bytes(1, "b"),
        record({ key: 0, data: "x" }),
        record({ key: 1, data: "y" })
      )
    )
    expect(trace(open(one, { dropOutside: lower }))).toBe("a/-=x")
    expect(trace(open(one, { dropOutside: upper }))).toBe("Dropped 1 for 0")
    expect(trace(open(two, { dropOutside: lower }))).toBe("Dropped 2 for 1")
  })

  it("cannot be told by a hash key that is no number: the record is plain", () => {
    const odd = seal(join(bytes(1, "k"), bytes(2, "-5"), record({ key: 0, hashKey: 0, data: "x" })))
    expect(trace(open(odd))).toBe("k/-5=x")
    expect(trace(open(odd, { dropOutside: lower }))).toBe("ExplicitHashKey")
  })

  it.each([
    { name: "swapped", first: 5n, last: 4n },
    { name: "below 0", first: -1n, last: 4n },
    { name: "above 2^128-1", first: 0n, last: 2n ** 128n }
  ])("worker-F15: a range whose ends are $name is refused", ({ first, last }) => {
    const refused = hashRange({ first, last })
    expect(Result.isFailure(refused) && refused.failure._tag).toBe("HashRangeInvalid")
  })
})
