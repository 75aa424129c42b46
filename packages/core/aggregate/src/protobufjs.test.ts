/**
 * This codec against `protobufjs`, which knows nothing but the three messages of the format: any
 * sound message is read alike, in whatever order its fields stand and whatever its tables hold.
 */
import { Option } from "effect"
import fc from "fast-check"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { Aggregator, deaggregator, type UserRecord } from "./index.ts"
import { protobuf } from "./testing/protobufjs.ts"
import { sealing } from "./testing/wire.ts"

const md5 = (input: Uint8Array): Uint8Array => createHash("md5").update(input).digest()
const open = deaggregator({ md5 })
const seal = sealing(md5)

const AggregatedRecord = protobuf
  .parse(
    `
    syntax = "proto2";
    message AggregatedRecord {
      repeated string partition_key_table = 1;
      repeated string explicit_hash_key_table = 2;
      repeated Record records = 3;
    }
    message Record {
      required uint64 partition_key_index = 1;
      optional uint64 explicit_hash_key_index = 2;
      required bytes data = 3;
      repeated Tag tags = 4;
    }
    message Tag {
      required string key = 1;
      optional string value = 2;
    }`,
    { keepCase: true }
  )
  .root.lookupType("AggregatedRecord")

/** A message as `protobufjs` says it; an optional field that is absent is no property. */
interface Message {
  readonly partition_key_table: ReadonlyArray<string>
  readonly explicit_hash_key_table: ReadonlyArray<string>
  readonly records: ReadonlyArray<{
    readonly partition_key_index: number
    readonly explicit_hash_key_index?: number
    readonly data: Uint8Array
    readonly tags: ReadonlyArray<{ readonly key: string; readonly value?: string }>
  }>
}

const decode = (message: Uint8Array): Message => {
  const decoded = AggregatedRecord.decode(message)
  expect(AggregatedRecord.verify(decoded)).toBe(null)
  const options = { longs: Number, arrays: true }
  return AggregatedRecord.toObject(decoded, options) as Message
}

const userRecordsOf = (message: Message): ReadonlyArray<UserRecord> =>
  message.records.map((record) => ({
    partitionKey: message.partition_key_table[record.partition_key_index] ?? "no such key",
    explicitHashKey:
      record.explicit_hash_key_index === undefined
        ? undefined
        : message.explicit_hash_key_table[record.explicit_hash_key_index],
    data: Uint8Array.from(record.data),
    tags: record.tags.map(({ key, value }) => ({ key, value }))
  }))

const key = fc.oneof(
  fc.constantFrom("10", "2", "__proto__", "\ufeff"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 })
)
const hashKey = fc.bigInt(0n, 2n ** 128n - 1n).map(String)
const data = fc.uint8Array({ maxLength: 300 })
const tag = fc.record({ key, value: fc.option(key, { nil: undefined }) })
const userRecord: fc.Arbitrary<UserRecord> = fc.record({
  partitionKey: key,
  explicitHashKey: fc.option(hashKey, { nil: undefined }),
  data,
  tags: fc.array(tag, { maxLength: 3 })
})

/** A message whose tables may hold an entry twice, or one that no record names. */
const message: fc.Arbitrary<Message> = fc
  .record({
    partition_key_table: fc.array(key, { minLength: 1, maxLength: 200 }),
    explicit_hash_key_table: fc.array(hashKey, { maxLength: 200 })
  })
  .chain((tables) => {
    const hashKeys = tables.explicit_hash_key_table.length
    const required = {
      partition_key_index: fc.nat(tables.partition_key_table.length - 1),
      data,
      tags: fc.array(fc.record({ key, value: key }, { requiredKeys: ["key"] }), { maxLength: 3 })
    }
    const record =
      hashKeys === 0
        ? fc.record(required)
        : fc.record(
            { ...required, explicit_hash_key_index: fc.nat(hashKeys - 1) },
            { requiredKeys: ["partition_key_index", "data", "tags"] }
          )
    return fc.record({
      partition_key_table: fc.constant(tables.partition_key_table),
      explicit_hash_key_table: fc.constant(tables.explicit_hash_key_table),
      records: fc.array(record, { maxLength: 40 })
    })
  })

const encode = (part: Partial<Message>): Uint8Array =>
  Uint8Array.from(AggregatedRecord.encode(AggregatedRecord.fromObject(part)).finish())

/** A field that no version of the format has, of any wire type but the groups. */
const unknownField = fc
  .tuple(fc.integer({ min: 4, max: 5_000 }), fc.constantFrom(0, 1, 2, 5), data)
  .map(([number, wireType, content]) => {
    const writer = protobuf.Writer.create().uint32(number * 8 + wireType)
    if (wireType === 0) writer.uint64(content.length * 2 ** 32)
    else if (wireType === 1) writer.fixed64(content.length)
    else if (wireType === 2) writer.bytes(content)
    else writer.fixed32(content.length)
    return Uint8Array.from(writer.finish())
  })

/** Each entry of a message as a message of its own: their bytes joined are the message again. */
const piecesOf = (whole: Message): ReadonlyArray<ReadonlyArray<Uint8Array>> => [
  whole.partition_key_table.map((each) => encode({ partition_key_table: [each] })),
  whole.explicit_hash_key_table.map((each) => encode({ explicit_hash_key_table: [each] })),
  whole.records.map((each) => encode({ records: [each] }))
]

/** Joins lists so that each keeps its own order; `picks` says which comes next. */
const interleave = (
  lists: ReadonlyArray<ReadonlyArray<Uint8Array>>,
  picks: ReadonlyArray<number>
): Uint8Array => {
  const rests = lists.map((list) => [...list])
  const joined: Array<Uint8Array> = []
  for (let turn = 0; rests.some((rest) => rest.length > 0); turn++) {
    const left = rests.filter((rest) => rest.length > 0)
    const next = left[(picks[turn % picks.length] ?? 0) % left.length]?.shift()
    if (next !== undefined) joined.push(next)
  }
  return Uint8Array.from(Buffer.concat(joined))
}

describe("protobufjs", () => {
  it("reads what this codec writes, tags included", () => {
    const records = fc.array(userRecord, { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(records, (given) => {
        const aggregator = new Aggregator({ md5, single: "aggregated" })
        for (const record of given) expect(aggregator.add(record)._tag).toBe("Added")
        const { data } = Option.getOrThrow(aggregator.finish())
        expect(userRecordsOf(decode(data.subarray(4, -16)))).toEqual(given)
      }),
      { numRuns: 200 }
    )
  })

  it("writes what this codec reads, whatever the tables hold", () => {
    fc.assert(
      fc.property(message, (whole) => {
        expect(open(seal(encode(whole)))).toEqual({
          _tag: "Aggregate",
          format: "standard",
          records: userRecordsOf(whole)
        })
      }),
      { numRuns: 200 }
    )
  })

  it("reads a message alike, in whatever order its fields stand and with unknown ones", () => {
    const unknown = fc.array(unknownField, { maxLength: 5 })
    const picks = fc.array(fc.nat(3), { minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(message, unknown, picks, (whole, others, order) => {
        const mixed = interleave([...piecesOf(whole), others], order)
        expect(userRecordsOf(decode(mixed))).toEqual(userRecordsOf(whole))
        expect(open(seal(mixed))).toMatchObject({ records: userRecordsOf(whole) })
      }),
      { numRuns: 200 }
    )
  })

  it("reads nothing where this codec finds a message cut short", () => {
    fc.assert(
      fc.property(message, fc.nat(), (whole, at) => {
        const bytes = encode(whole)
        const cut = bytes.subarray(0, 1 + (at % (bytes.length - 1)))
        const outcome = open(seal(cut))
        if (outcome._tag === "Aggregate") {
          expect(userRecordsOf(decode(cut))).toEqual(outcome.records)
        } else {
          expect(outcome._tag).toBe("Plain")
          expect(() => AggregatedRecord.decode(cut)).toThrow()
        }
      }),
      { numRuns: 300 }
    )
  })
})
