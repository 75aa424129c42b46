import { Option } from "effect"
import fc from "fast-check"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { deflateSync, inflateSync } from "node:zlib"
import {
  Aggregator,
  deaggregator,
  invariants,
  type NewUserRecord,
  type Outgoing,
  type OutgoingFormat
} from "./index.ts"
import { bytes, join, record, sealing, text } from "./testing/wire.ts"
import { decodeUtf8, encodeUtf8 } from "./utf8.ts"

const md5 = (input: Uint8Array): Uint8Array => createHash("md5").update(input).digest()
const seal = sealing(md5)

const open = deaggregator({
  md5,
  privateFormats: { inflate: (input, maxOutputLength) => inflateSync(input, { maxOutputLength }) }
})

// Few and odd keys, so that tables share entries and integer-like keys come out of order.
const wellFormed = fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 })
const partitionKey = fc.oneof(fc.constantFrom("10", "2", "a", "__proto__", "\ufeff"), wellFormed)
const hashKey = fc.oneof(fc.constantFrom("0", "7", "3"), fc.bigInt(0n, 2n ** 128n - 1n).map(String))
const magicData = fc.constantFrom(seal(text("x")), seal(text("x"), 0), text(""))
const data = fc.oneof(fc.uint8Array({ maxLength: 40 }), magicData)
const tag = fc.record({ key: wellFormed, value: fc.option(wellFormed, { nil: undefined }) })
const userRecord: fc.Arbitrary<Required<NewUserRecord>> = fc.record({
  partitionKey,
  explicitHashKey: fc.option(hashKey, { nil: undefined }),
  data,
  tags: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(tag, { maxLength: 3 }))
})
const format: fc.Arbitrary<OutgoingFormat> = fc.constantFrom(
  { _tag: "Standard" },
  { _tag: "Hidden" },
  { _tag: "Deflated", deflate: (input: Uint8Array) => deflateSync(input) }
)

/** Sends all records, as a producer would, and checks the aggregator after each step. */
const send = (
  records: ReadonlyArray<NewUserRecord>,
  aggregator: Aggregator
): ReadonlyArray<Outgoing> => {
  const sent: Array<Outgoing> = []
  for (const each of records) {
    let addition = aggregator.add(each)
    if (addition._tag === "Full") {
      sent.push(Option.getOrThrow(aggregator.finish()))
      addition = aggregator.add(each)
    }
    expect(addition._tag).toBe("Added")
    expect(invariants(aggregator)).toEqual([])
  }
  return [...sent, ...Option.toArray(aggregator.finish())]
}

const receive = ({ data, explicitHashKey, isAggregated, partitionKey }: Outgoing) => {
  const outcome = open(data)
  expect(outcome._tag).toBe(isAggregated ? "Aggregate" : "Plain")
  return outcome._tag === "Aggregate"
    ? outcome.records
    : [{ partitionKey, explicitHashKey, data, tags: [] }]
}

describe("round trips", () => {
  it("give back every record in its order, within the limits, always by the same bytes", () => {
    const limits = { bytes: 600, records: 8 }
    const single = fc.constantFrom("plain" as const, "aggregated" as const)
    fc.assert(
      fc.property(fc.array(userRecord, { maxLength: 30 }), format, single, (records, form, how) => {
        const options = { md5, limits, single: how, format: form }
        const sent = send(records, new Aggregator(options))
        expect(sent.flatMap(receive)).toEqual(records)
        for (const { data, explicitHashKey = "", partitionKey } of sent) {
          const outer = text(partitionKey).length + text(explicitHashKey).length
          expect(data.length + outer).toBeLessThanOrEqual(limits.bytes)
        }
        expect(send(records, new Aggregator(options))).toEqual(sent)
      }),
      { numRuns: 150 }
    )
  })

  it("agree with a second encoder, whatever its tables hold", () => {
    const tables = fc.record({
      keys: fc.array(wellFormed, { minLength: 1, maxLength: 5 }),
      hashKeys: fc.array(hashKey, { maxLength: 5 }),
      picks: fc.array(fc.record({ key: fc.nat(), hashKey: fc.option(fc.nat()), data }), {
        maxLength: 12
      })
    })
    fc.assert(
      fc.property(tables, ({ hashKeys, keys, picks }) => {
        const chosen = picks.map((pick) => {
          const key = pick.key % keys.length
          if (pick.hashKey === null || hashKeys.length === 0) return { key, data: pick.data }
          return { key, hashKey: pick.hashKey % hashKeys.length, data: pick.data }
        })
        const message = join(
          ...keys.map((key) => bytes(1, key)),
          ...hashKeys.map((key) => bytes(2, key)),
          ...chosen.map(record)
        )
        expect(open(seal(message))).toEqual({
          _tag: "Aggregate",
          format: "standard",
          records: chosen.map(({ data, hashKey, key }) => ({
            partitionKey: keys[key],
            explicitHashKey: hashKey === undefined ? undefined : hashKeys[hashKey],
            data,
            tags: []
          }))
        })
      }),
      { numRuns: 300 }
    )
  })
})

describe("UTF-8", () => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

  it("is decoded as the platform does it, ill-formed bytes included", () => {
    const odd = fc.constantFrom(
      0x80,
      0xbf,
      0xc0,
      0xc2,
      0xe0,
      0xed,
      0xa0,
      0xef,
      0xf0,
      0x90,
      0xf4,
      0xf5
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(odd, fc.nat(255)), { maxLength: 12 }), (numbers) => {
        const input = Uint8Array.from(numbers)
        expect(decodeUtf8(input, 0, input.length)).toBe(decoder.decode(input))
      }),
      { numRuns: 3_000 }
    )
  })

  it("is encoded as the platform does it, lone surrogates included", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(0xffff), (value, unit) => {
        const odd = value + String.fromCharCode(unit)
        expect(encodeUtf8(odd)).toEqual(text(odd))
      }),
      { numRuns: 1_000 }
    )
  })

  it("is decoded at any length, also where a piece ends within a pair", () => {
    const long = `x${"🙂".repeat(9_000)}`
    const input = text(long)
    expect(decodeUtf8(input, 0, input.length)).toBe(long)
  })
})
